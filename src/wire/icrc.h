#pragma once

#include "wire/bytes.h"
#include "wire/packet.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace rdmalab::wire {

/// The invariant CRC of a RoCEv2 packet (IB specification vol. 1, 7.8.1 and annex A17.3.3): CRC-32
/// (zlib's) over 8 bytes 0xff in place of the LRH, the IP header, UDP, BTH and all up to the ICRC,
/// where what a router may change counts as ones: IPv4's TOS, TTL and checksum; IPv6's traffic
/// class, flow label and hop limit; UDP's checksum; BTH's FECN, BECN and reserved six bits.
///
/// A value here is the CRC as a number. In the packet its lowest byte comes first, so tools that
/// show the field as a big-endian number (Wireshark, scapy) show the bytes the other way round.

/// The CRC over all up to and including the BTH, to go on from with icrc_continue(). Empty if the
/// packet is no RoCEv2 packet or its BTH isn't captured.
std::optional<std::uint32_t> icrc_seed(Bytes frame, const Packet& packet);

/// Goes on from a seed, or from an earlier result, over the next bytes.
std::uint32_t icrc_continue(std::uint32_t crc, Bytes bytes);

/// The ICRC that the packet should have. Empty if the packet isn't captured whole.
std::optional<std::uint32_t> compute_icrc(Bytes frame, const Packet& packet);

/// The ICRC that stands in the packet. Empty if the packet isn't captured whole.
std::optional<std::uint32_t> stored_icrc(Bytes frame, const Packet& packet);

/// Whether the two are the same. Empty if that can't be said.
std::optional<bool> icrc_holds(Bytes frame, const Packet& packet);

/// Writes the right ICRC into the packet, as after its bytes were changed. False, and nothing
/// changed, if the packet isn't there whole.
bool fix_icrc(MutableBytes frame, const Packet& packet);

/// What an ICRC changes by (XOR) when `flipped` is XORed onto bytes that it covers and that have
/// `bytes_behind` covered bytes behind them. A CRC is linear, so this needs neither the packet nor
/// its old ICRC: a program in the kernel can set a corrupted packet right with one XOR.
std::uint32_t icrc_change(Bytes flipped, std::size_t bytes_behind);

} // namespace rdmalab::wire
