#pragma once

#include "lab/lab.h"

#include <cstdint>

/// What a payload costs on the wire, as netem counts it: the Ethernet frame without preamble, FCS
/// and gap.
namespace rdmalab::analysis {

inline constexpr std::uint64_t ethernet_bytes = 14;
inline constexpr std::uint64_t ipv4_bytes = 20;
inline constexpr std::uint64_t udp_bytes = 8;
inline constexpr std::uint64_t bth_bytes = 12; ///< IB specification 9.2
inline constexpr std::uint64_t icrc_bytes = 4;
/// TCP header with the time-stamp option (RFC 7323), which Linux sends by default.
inline constexpr std::uint64_t tcp_bytes = 20 + 12;

/// Headers of every RoCEv2 data packet over IPv4: 58.
inline constexpr std::uint64_t roce_overhead_bytes =
    ethernet_bytes + ipv4_bytes + udp_bytes + bth_bytes + icrc_bytes;
/// Headers of every TCP data segment over IPv4: 66.
inline constexpr std::uint64_t tcp_overhead_bytes = ethernet_bytes + ipv4_bytes + tcp_bytes;

/// A message or a run of stream bytes on the wire.
struct WireCost {
  std::uint64_t packets = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t wire_bytes = 0;
};

/// The path MTU that a port on this netdev MTU has: the largest of 256 … 4096 that leaves 80 bytes
/// for headers (rxe_param.h, RXE_MAX_HDR_LENGTH). 256 if none does.
std::uint32_t ib_mtu_for(std::uint32_t netdev_mtu);
/// What one packet of this traffic can carry: `in_force` if it was measured (Flow::path_mtu),
/// otherwise the smaller of the lab's path MTU and the port's, or the TCP segment size that the
/// netdev MTU leaves.
std::uint32_t packet_payload(const lab::Lab& lab, const lab::Traffic& traffic,
                             std::uint32_t in_force = 0);

/// One message of an operation in its data direction, with the notice that follows it. The last
/// packet is padded to four bytes.
WireCost verbs_message(lab::VerbsOp op, std::uint64_t message_bytes, std::uint32_t path_mtu,
                       lab::Transport transport = lab::Transport::rc);
/// One full segment of a TCP stream.
WireCost tcp_segment(std::uint32_t mss);

/// What the traffic sends for one message (verbs) or one segment (tcp).
WireCost wire_cost(const lab::Traffic& traffic, std::uint32_t packet_payload);
/// How much payload a link of this rate carries, bits/s. 0 for a link without a rate.
std::uint64_t payload_rate_bps(std::uint64_t link_bps, const WireCost& cost);

} // namespace rdmalab::analysis
