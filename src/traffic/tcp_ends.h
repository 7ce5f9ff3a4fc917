#pragma once

#include "base/fd.h"
#include "base/json.h"
#include "traffic/ending.h"
#include "traffic/json_socket.h"
#include "traffic/oob.h"
#include "traffic/worker.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <sys/socket.h>

/// The two ends of kind tcp, and what they share.
namespace rdmalab::traffic {

/// Sends as fast as the sockets take it.
Result<std::unique_ptr<Worker>> make_tcp_initiator(const EndpointSpec& spec,
                                                   std::uint64_t deadline_ns);
/// With a depth, MSG_ZEROCOPY, or both.
Result<std::unique_ptr<Worker>> make_tcp_windowed_initiator(const EndpointSpec& spec,
                                                            std::uint64_t deadline_ns);
Result<std::unique_ptr<Worker>> make_tcp_target(const EndpointSpec& spec,
                                                std::uint64_t deadline_ns);

/// Tells the out-of-band connection from streams among an initiator's descriptors.
inline constexpr std::uint32_t oob_tag = ~0U;

/// The initiator's connections, prepared for sending.
struct TcpDial {
  Fd oob;
  std::vector<Fd> streams;
};
Result<TcpDial> dial_streams(const EndpointSpec& spec, std::uint64_t deadline_ns);

/// Ends the streams and tells the target how much each carried. `Stream` has fd, started and
/// finished (messages begun, and handed to the kernel).
template <typename Stream>
void say_goodbye(const std::vector<Stream>& streams, JsonSocket& oob, std::uint64_t deadline_ns,
                 record::Flow& flow)
{
  Totals totals;
  for (const Stream& s : streams) {
    totals.posted.push_back(s.started);
    totals.completed.push_back(s.finished);
    ::shutdown(s.fd.get(), SHUT_WR);
  }
  totals.outcome = flow.outcome;
  if (const Status sent = oob.send(totals, deadline_ns); !sent)
    end_with(flow, "peer", sent.error());
}

/// Adds a stream's tcp_info and its MSS to the flow.
void note_tcp_info(int fd, record::Flow& flow);

/// "send on stream 3: Broken pipe"
std::string stream_words(const char* verb, std::size_t stream, int number);

} // namespace rdmalab::traffic
