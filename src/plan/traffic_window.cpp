#include "plan/traffic_window.h"

#include "base/wide.h"
#include "lab/operation.h"

#include <algorithm>
#include <bit>

namespace rdmalab::plan {
namespace {

std::uint64_t packets_per_message(const lab::Lab& lab, const lab::Traffic& traffic)
{
  const std::uint64_t mtu = ib_mtu(lab, traffic);
  return std::max<std::uint64_t>(1, (traffic.message_bytes + mtu - 1) / mtu);
}

std::uint64_t packets_in_flight(const lab::Lab& lab, const lab::Traffic& traffic)
{
  // tcp_wmem's maximum of 4 MiB counts kernel memory, of which the smallest packet takes 768.
  constexpr std::uint64_t of_tcp = (std::uint64_t{4} << 20) / 768;
  if (over_iwarp(traffic)) return traffic.verbs.qps * of_tcp;
  if (traffic.kind != lab::TrafficKind::verbs) return traffic.tcp.streams * of_tcp;
  // A go-back replays the window while its first edition still stands in the queue; a time-out can
  // do so again. rxe checks the window before a READ, not before each of its response packets.
  std::uint64_t per_qp = 4 * std::uint64_t{rxe_window_packets};
  if (lab::operation_of(traffic.verbs.op).reads) per_qp += packets_per_message(lab, traffic);
  return traffic.verbs.qps * per_qp;
}

} // namespace

std::uint32_t ib_mtu(const lab::Lab& lab, const lab::Traffic& traffic)
{
  const std::uint32_t room = lab.topology.mtu > 80 ? lab.topology.mtu - 80 : 0;
  const std::uint32_t active = std::clamp<std::uint32_t>(std::bit_floor(room), 256, 4096);
  return traffic.verbs.path_mtu == 0 ? active : std::min(active, traffic.verbs.path_mtu);
}

std::uint64_t packets_in_flight(const lab::Lab& lab)
{
  std::uint64_t most = 0;
  for (const auto& group : lab.groups) {
    std::uint64_t sum = 0;
    for (const std::string& name : group)
      if (const lab::Traffic* traffic = find_traffic(lab, name))
        sum += packets_in_flight(lab, *traffic);
    most = std::max(most, sum);
  }
  return most;
}

Path path_of(const lab::Lab& lab, const lab::Traffic& traffic)
{
  const bool back =
      traffic.kind == lab::TrafficKind::verbs && lab::operation_of(traffic.verbs.op).reads;
  const lab::Host* from = find_host(lab, back ? traffic.to : traffic.from);
  const lab::Host* to = find_host(lab, back ? traffic.from : traffic.to);
  Path path;
  if (from == nullptr || to == nullptr) return path;
  const auto slower = [&](std::uint64_t rate) {
    if (rate != 0 && (path.rate_bps == 0 || rate < path.rate_bps)) path.rate_bps = rate;
  };
  slower(to->down.rate_bps);
  if (from->up) slower(from->up->rate_bps);
  for (const lab::Host* host : {from, to})
    path.round_trip_ns += host->down.delay_ns + (host->up ? host->up->delay_ns : 0);
  return path;
}

std::uint64_t payload_share_ppm(const lab::Lab& lab, const lab::Traffic& traffic)
{
  if (traffic.kind != lab::TrafficKind::verbs || over_iwarp(traffic)) {
    const std::uint64_t headers = 20 + 20 + 12; // IPv4, TCP, time stamps
    const std::uint64_t framing = over_iwarp(traffic) ? lab::iwarp_framing_bytes : 0;
    const std::uint64_t most = lab.topology.mtu > headers ? lab.topology.mtu - headers : 1;
    const std::uint64_t payload = most > framing ? most - framing : 1;
    return payload * 1'000'000 / (most + headers + 14);
  }
  const std::uint64_t packets = packets_per_message(lab, traffic);
  const lab::Operation& op = lab::operation_of(traffic.verbs.op);
  constexpr std::uint64_t headers = 14 + 20 + 8 + 12 + 4;
  std::uint64_t wire = traffic.message_bytes + packets * headers +
                       lab::extended_header_bytes(op, traffic.verbs.transport, packets);
  if (op.notice) wire += headers + lab::notice_bytes;
  return static_cast<std::uint64_t>(Wide{traffic.message_bytes} * 1'000'000 / wire);
}

} // namespace rdmalab::plan
