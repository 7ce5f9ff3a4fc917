#pragma once

#include "base/result.h"
#include "lab/lab.h"
#include "record/record.h"
#include "traffic/json_socket.h"

#include <cstdint>
#include <string>

#include <sys/types.h>

/// Endpoints drive traffic. Each is a child process in its host's namespace, ordered about over a
/// socket pair by the controller, and can be killed at any time. The initiator (`from`) and the
/// target (`to`) of a traffic find each other over a TCP connection inside the namespaces
/// (out-of-band exchange).
namespace rdmalab::traffic {

enum class Role { initiator, target };

/// All that one endpoint has to know; it needs no name resolution, no files, no environment.
struct EndpointSpec {
  Role role = Role::initiator;
  lab::Traffic traffic;
  std::string netns_path;  ///< "/run/netns/rl-client"; "" stays in the current namespace (tests)
  std::string rdma_device; ///< "rxe0"
  std::string local_ip;    ///< IPv4 of this host
  std::string peer_ip;
  std::uint16_t port = 0; ///< TCP port of the out-of-band exchange, and of the stream for kind tcp
  std::uint64_t seed = 0; ///< of PSNs and payloads; equal at both ends
  std::uint64_t ring_bytes = 0; ///< that the receiving end may keep unchecked; 0: one message
  std::uint64_t ready_timeout_ns =
      30'000'000'000; ///< an endpoint whose peer never comes gives up after this
};

/// The name of the host where it runs.
inline const std::string& host_of(const EndpointSpec& spec)
{
  return spec.role == Role::initiator ? spec.traffic.from : spec.traffic.to;
}

/// The times of a cell, CLOCK_MONOTONIC ns; all endpoints get the same.
struct Schedule {
  std::uint64_t start_ns = 0;        ///< first message
  std::uint64_t window_begin_ns = 0; ///< deliveries in (begin, end] count
  std::uint64_t window_end_ns = 0;   ///< afterwards nothing new is sent
};
RDMALAB_JSON_DECLARE(Schedule)

/// How one end's QP or TCP stream is known on the wire.
struct StreamId {
  std::uint32_t qp_number = 0;
  std::uint32_t first_psn = 0; ///< of the requests that this end sends
  std::uint16_t port = 0;      ///< TCP's, of this end
};
RDMALAB_JSON_DECLARE(StreamId)

/// How long before start_ns the schedule must be handed out, ns: until all endpoints have it, and a
/// command's server, which starts at once, listens.
std::uint64_t lead_ns(const lab::Traffic& traffic);

/// How long after the window an endpoint may take until what is in flight is delivered or given up
/// and both ends have told each other, ns: 6 to 65 s by the transport's own timers. report() should
/// wait until window_end_ns plus this plus a second or so for the processes themselves.
std::uint64_t drain_budget_ns(const lab::Traffic& traffic);

/// The controller's hold on one endpoint process. Dying kills and reaps it. Move-only.
class Endpoint {
public:
  /// Forks the process; it enters its namespace, opens its device and waits. Returns without
  /// waiting for that.
  static Result<Endpoint> spawn(const EndpointSpec& spec);

  /// Waits until the endpoint is connected to its peer and ready to send; its Error if it failed at
  /// that.
  Status wait_ready(std::uint64_t timeout_ns);
  /// Hands it the schedule.
  Status start(const Schedule& schedule);
  /// Waits for its report after the window. A broken transport is no Error: Flow::outcome says it.
  /// The flow's bytes are filled in by the end that sees delivery (verbs SEND and tcp: target;
  /// WRITE, READ: initiator); the other end's Flow carries only its completions, checks and
  /// outcome.
  Result<record::Flow> report(std::uint64_t timeout_ns);

  /// By QP or stream, once it is ready; a command has none.
  [[nodiscard]] const std::vector<StreamId>& streams() const { return streams_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const EndpointSpec& spec() const { return spec_; }

  Endpoint(Endpoint&& other) noexcept;
  Endpoint& operator=(Endpoint&& other) noexcept;
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  ~Endpoint();

private:
  Endpoint(EndpointSpec spec, pid_t pid, JsonSocket control);
  Result<Json> receive(const std::string& what, std::uint64_t timeout_ns);
  EndpointSpec spec_;
  pid_t pid_ = -1;
  JsonSocket control_;
  std::vector<StreamId> streams_;
};

/// One Flow from the two ends' reports: deliveries and checks come from the end that saw them, work
/// completions and tcp_info from the initiator (the target adds only what failed), the outcome from
/// whoever has something to say.
record::Flow merge(const record::Flow& initiator, const record::Flow& target);

} // namespace rdmalab::traffic
