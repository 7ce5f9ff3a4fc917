#pragma once

#include "lab/lab.h"

#include <cstdint>
#include <string>

/// What a traffic's senders can have on the way, and what the path between them can carry.
namespace rdmalab::plan {

/// rxe's send window per QP, packets (drivers/infiniband/sw/rxe/rxe_param.h, RXE_MAX_UNACKED_PSNS).
inline constexpr std::uint32_t rxe_window_packets = 128;

/// IB MTU of a verbs traffic, bytes: the power of two below MTU - 80 that rxe takes (256 … 4096),
/// or the lab's path_mtu if that is smaller.
std::uint32_t ib_mtu(const lab::Lab& lab, const lab::Traffic& traffic);

/// Packets that all senders of the largest group can have in the fabric's queues, at most.
std::uint64_t packets_in_flight(const lab::Lab& lab);

/// The unfaulted way of a traffic's payload, through the shapers that it passes.
struct Path {
  std::uint64_t rate_bps = 0;      ///< of the slowest shaper in the payload's direction; 0: none
  std::uint64_t round_trip_ns = 0; ///< delays of both directions
};
Path path_of(const lab::Lab& lab, const lab::Traffic& traffic);

/// Share of a link's rate that is payload, in ppm: a message's bytes against its Ethernet frames
/// (RoCEv2: 58 bytes of Ethernet, IPv4, UDP, BTH and ICRC, and the operation's own header;
/// TCP: 66 bytes with time stamps).
std::uint64_t payload_share_ppm(const lab::Lab& lab, const lab::Traffic& traffic);

} // namespace rdmalab::plan
