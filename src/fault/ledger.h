#pragma once

#include "wire/trace.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rdmalab::fault {

/// The classes that the ledger counts by: wire::PacketClass and then TCP's. A TCP segment that is
/// several at once counts as the first of syn, data, fin that it is.
enum class PacketKind : std::uint8_t {
  data,
  ack,
  nak,
  rnr,
  read_request,
  read_response,
  atomic,
  atomic_ack,
  cnp,
  roce_other,
  tcp_syn,
  tcp_data,
  tcp_ack,
  tcp_fin,
  other, ///< any other IP packet between two hosts of the lab
};
inline constexpr std::size_t packet_kinds = 15;
/// "read-request", "tcp-data".
std::string_view to_string(PacketKind kind);

/// What one rule did.
struct RuleCounts {
  std::uint64_t matched = 0; ///< every, probability, burst and limit left aside
  std::uint64_t fired = 0;
  std::uint64_t failed = 0; ///< fired, but the kernel refused the action: the run proves nothing
  std::uint64_t busy = 0;   ///< reorder would have fired while the rule still held a packet
  /// Packets whose flow isn't known, though the rule asks for a number relative to it.
  std::uint64_t unknown_flow = 0;
};

/// One firing.
struct Firing {
  std::uint64_t time_ns = 0; ///< since the start
  std::uint16_t rule = 0;
  std::optional<std::uint16_t> flow;
  PacketKind kind = PacketKind::other;
  std::uint8_t opcode = 0;        ///< RoCE only
  std::uint32_t sequence = 0;     ///< PSN or TCP sequence number as it stands in the packet
  std::uint32_t relative = 0;     ///< of a known flow
  std::uint32_t transmission = 0; ///< 0: no rule of that port asked
  std::uint32_t wire_length = 0;
  std::uint8_t from = 0;
  std::uint8_t to = 0;
};

/// Packets of one source, destination and kind.
struct PacketCounts {
  std::uint64_t sent = 0;   ///< came into the fabric
  std::uint64_t passed = 0; ///< went on to the destination's queue
  std::uint64_t arrived = 0;
  bool operator==(const PacketCounts&) const = default;
};

/// How one rule changed the number of packets of one source, destination and kind.
struct RuleEffect {
  std::uint16_t rule = 0;
  std::uint8_t from = 0;
  std::uint8_t to = 0;
  PacketKind kind = PacketKind::other;
  std::uint64_t dropped = 0; ///< by drop, or held at the end
  std::uint64_t duplicated = 0;
  std::uint64_t held_at_end = 0; ///< of those dropped: delayed or stashed, and never let go
};

/// What netem did to the packets of one host, by the fabric's own counters.
struct NetemCounts {
  std::uint8_t host = 0;
  bool up = false; ///< on the way into the fabric, otherwise out of it
  std::uint64_t lost = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t corrupted = 0; ///< such a packet may arrive as something else, or not be known
};

/// The books of a run.
struct Ledger {
  std::vector<std::string> hosts;
  std::vector<RuleCounts> rules;
  std::vector<PacketCounts> counts; ///< by (from * hosts + to) * packet_kinds + kind
  std::vector<RuleEffect> effects;
  std::vector<Firing> firings;    ///< in order
  std::uint64_t lost_firings = 0; ///< that found no room; they are in all counts
  /// Updates that a full map refused: effects, transmission numbers, TCP streams. Not 0: the books
  /// are wrong.
  std::uint64_t lost_updates = 0;

  [[nodiscard]] PacketCounts& at(std::size_t from, std::size_t to, PacketKind kind);
  [[nodiscard]] const PacketCounts& at(std::size_t from, std::size_t to, PacketKind kind) const;
};

/// Whether the sums close: sent − dropped + duplicated = passed, and passed = arrived, each by
/// source, destination and class; where netem took or added packets, which it doesn't count by
/// class, by source (up) or destination. Returns what does not close, each in a sentence; empty:
/// all do. Nothing may be on its way any more when the ledger is read.
std::vector<std::string> check_sums(const Ledger& ledger, std::span<const NetemCounts> netems = {});

} // namespace rdmalab::fault
