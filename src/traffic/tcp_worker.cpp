#include "traffic/drain.h"
#include "traffic/oob.h"
#include "traffic/tcp_ends.h"
#include "traffic/tcp_stream.h"

#include <algorithm>
#include <cstring>

namespace rdmalab::traffic {

std::string stream_words(const char* verb, std::size_t stream, int number)
{
  return std::string(verb) + " stream " + std::to_string(stream) + ": " + std::strerror(number);
}

void note_tcp_info(int fd, record::Flow& flow)
{
  const auto mss = add_tcp_info(fd, flow.tcp_info);
  if (mss && *mss > flow.path_mtu) flow.path_mtu = *mss;
}

Result<TcpDial> dial_streams(const EndpointSpec& spec, std::uint64_t deadline_ns)
{
  const auto dial = [&](std::uint64_t greeting, const std::string& congestion) -> Result<Fd> {
    TRY_ASSIGN(Fd fd, connect_to(spec.local_ip, spec.peer_ip, spec.port, congestion, deadline_ns));
    TRY(send_greeting(fd.get(), greeting));
    return fd;
  };
  TcpDial made;
  TRY_ASSIGN(made.oob, dial(0, {}));
  const std::uint64_t unsent = std::max<std::uint64_t>(256U << 10, 4 * spec.traffic.message_bytes);
  for (std::uint32_t i = 0; i < spec.traffic.tcp.streams; ++i) {
    TRY_ASSIGN(Fd fd, dial(i + 1, spec.traffic.tcp.congestion));
    TRY(prepare_sender(fd.get(), spec.traffic.tcp.nodelay, unsent));
    made.streams.push_back(std::move(fd));
  }
  return made;
}

Result<std::unique_ptr<Worker>> make_tcp_worker(const EndpointSpec& spec, std::uint64_t deadline_ns)
{
  TRY(check_message_size(spec.traffic));
  if (spec.role == Role::target) return make_tcp_target(spec, deadline_ns);
  const bool plain = spec.traffic.tcp.depth == 0 && !spec.traffic.tcp.zerocopy;
  return plain ? make_tcp_initiator(spec, deadline_ns)
               : make_tcp_windowed_initiator(spec, deadline_ns);
}

} // namespace rdmalab::traffic
