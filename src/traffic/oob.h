#pragma once

#include "traffic/endpoint.h"
#include "traffic/json_socket.h"

#include <vector>

/// How the two ends of a traffic find each other: the target listens on spec.port of its host, the
/// initiator connects. All deadlines are CLOCK_MONOTONIC ns.
namespace rdmalab::traffic {

/// A listening TCP socket on local_ip:port.
Result<Fd> listen_on(const std::string& local_ip, std::uint16_t port, int backlog);

/// The next connection; Exit::timeout if nobody comes. Blocking, Nagle's algorithm off.
Result<Fd> accept_one(int listener, std::uint64_t deadline_ns);

/// A connection from local_ip to peer_ip:port, tried again until somebody listens. `congestion`
/// names the algorithm, set before the handshake; "" keeps the kernel's. Blocking, Nagle's
/// algorithm off.
Result<Fd> connect_to(const std::string& local_ip, const std::string& peer_ip, std::uint16_t port,
                      const std::string& congestion, std::uint64_t deadline_ns);

/// The out-of-band connection of the two ends.
Result<JsonSocket> meet_peer(const EndpointSpec& spec, std::uint64_t deadline_ns);

/// The initiator's last words: what it sent on each QP or stream.
struct Totals {
  std::vector<std::uint64_t> posted; ///< messages handed to the transport
  std::vector<std::uint64_t>
      completed; ///< of these, known to be delivered (verbs) or written (tcp)
  std::string outcome = "ok";
};
RDMALAB_JSON_DECLARE(Totals)

} // namespace rdmalab::traffic
