#include "analysis/wire_rate.h"

#include "base/wide.h"
#include "lab/operation.h"

#include <algorithm>

namespace rdmalab::analysis {

std::uint32_t ib_mtu_for(std::uint32_t netdev_mtu)
{
  constexpr std::uint32_t headers = 80;
  std::uint32_t mtu = 4096;
  while (mtu > 256 && mtu + headers > netdev_mtu) mtu /= 2;
  return mtu;
}

std::uint32_t packet_payload(const lab::Lab& lab, const lab::Traffic& traffic,
                             std::uint32_t in_force)
{
  if (in_force != 0) return in_force;
  if (traffic.kind != lab::TrafficKind::verbs || over_iwarp(traffic)) {
    const std::uint64_t framing = over_iwarp(traffic) ? lab::iwarp_framing_bytes : 0;
    const auto headers = static_cast<std::uint32_t>(ipv4_bytes + tcp_bytes + framing);
    return lab.topology.mtu > headers ? lab.topology.mtu - headers : 1;
  }
  const std::uint32_t active = ib_mtu_for(lab.topology.mtu);
  return traffic.verbs.path_mtu != 0 ? std::min(traffic.verbs.path_mtu, active) : active;
}

WireCost verbs_message(lab::VerbsOp op, std::uint64_t message_bytes, std::uint32_t path_mtu,
                       lab::Transport transport)
{
  const lab::Operation& operation = lab::operation_of(op);
  const std::uint64_t mtu = std::max<std::uint32_t>(path_mtu, 1);
  WireCost cost;
  cost.payload_bytes = message_bytes;
  cost.packets = std::max<std::uint64_t>(1, (message_bytes + mtu - 1) / mtu);
  const std::uint64_t padding = (4 - message_bytes % 4) % 4;
  const std::uint64_t payload = operation.atomic ? 0 : message_bytes + padding;
  cost.wire_bytes = cost.packets * roce_overhead_bytes + payload +
                    lab::extended_header_bytes(operation, transport, cost.packets);
  if (operation.notice) {
    ++cost.packets;
    cost.wire_bytes += roce_overhead_bytes + lab::notice_bytes;
  }
  return cost;
}

WireCost tcp_segment(std::uint32_t mss)
{
  return {1, mss, mss + tcp_overhead_bytes};
}

WireCost wire_cost(const lab::Traffic& traffic, std::uint32_t packet_payload)
{
  if (over_iwarp(traffic))
    return {1, packet_payload, packet_payload + lab::iwarp_framing_bytes + tcp_overhead_bytes};
  if (traffic.kind != lab::TrafficKind::verbs) return tcp_segment(packet_payload);
  return verbs_message(traffic.verbs.op, traffic.message_bytes, packet_payload,
                       traffic.verbs.transport);
}

std::uint64_t payload_rate_bps(std::uint64_t link_bps, const WireCost& cost)
{
  if (cost.wire_bytes == 0) return 0;
  return static_cast<std::uint64_t>(static_cast<Wide>(link_bps) * cost.payload_bytes /
                                    cost.wire_bytes);
}

} // namespace rdmalab::analysis
