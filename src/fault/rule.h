#pragma once

#include "base/result.h"
#include "wire/opcode.h"
#include "wire/trace.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct fault_rule;

namespace rdmalab::fault {

enum class Transport : std::uint8_t { any, roce, tcp };

/// Kinds of TCP segments, as bits. A segment can be several at once.
enum TcpKind : std::uint8_t {
  tcp_kind_syn = 1,
  tcp_kind_data = 2,
  tcp_kind_ack = 4, ///< nothing but an acknowledgement
  tcp_kind_fin = 8, ///< FIN or RST
};

/// Both ends included.
struct Range {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};

/// Gilbert's model: before each match the state may change, in the bad one the rule fires. Bursts
/// are 1 / bad_to_good long on average.
struct Burst {
  std::uint32_t good_to_bad_ppm = 0;
  std::uint32_t bad_to_good_ppm = 0;
};

/// ns after the start, `to` not included.
struct Window {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = UINT64_MAX;
};

/// Which packets, and what happens to them. Everything that is asked for must hold; what is empty
/// is not asked for. Of several rules the first that fires acts. Sequence numbers are relative: to
/// the first PSN of the flow's PSN space, or to the SYN (which is 0, the first byte is 1). Rules
/// that ask for sequence, transmission or probability need the packet's flow to be known.
struct Rule {
  std::string name;

  Transport transport = Transport::any;
  std::optional<std::uint16_t> flow; ///< index into the flows
  std::optional<std::uint8_t> from;  ///< index into the hosts
  std::optional<std::uint8_t> to;
  std::vector<wire::PacketClass> classes;
  std::vector<wire::Position> positions;
  std::optional<std::uint8_t> opcode;   ///< of BTH
  std::uint8_t tcp_kinds = 0;           ///< TcpKind bits
  std::optional<Range> sequence;        ///< TCP: the segment covers a byte of it
  std::vector<std::uint32_t> sequences; ///< at most 16
  /// 1: this PSN, or a segment that begins here, passes for the first time in this class and flow.
  std::optional<Range> transmission;
  std::optional<Window> window;

  /// Of the packets that match so far, counted from 0, those whose number modulo `every` is
  /// `every_offset` (by default the last: every 100th is the 100th, 200th …). 0: all.
  std::uint32_t every = 0;
  std::optional<std::uint32_t> every_offset;
  /// Decided by seed, flow, sequence and transmission number alone: no timing changes it.
  std::optional<std::uint32_t> probability_ppm;
  /// Rules with the same group hit the data packets with the same numbers (the n-th that its flow
  /// transmits), whatever the transport.
  std::string seed_group;
  std::uint64_t seed = 0;
  std::optional<Burst> burst;
  std::optional<std::uint64_t> limit; ///< firings at most

  wire::FaultAction action = wire::FaultAction::none;
  std::uint64_t delay_ns = 0;
  std::uint32_t passing = 0;         ///< reorder: how many of its flow pass first
  std::uint32_t payload_offset = 0;  ///< corrupt, forge: where, bytes
  std::vector<std::uint8_t> pattern; ///< corrupt, forge: XORed onto the payload, at most 8 bytes
  std::optional<std::uint8_t> dscp;  ///< rewrite
  std::optional<std::uint8_t> ttl;   ///< rewrite; IPv6: hop limit
};

/// The longest delay: what the hold device's queue looks ahead.
inline constexpr std::uint64_t max_delay_ns = 60'000'000'000;

/// The programs' form of a rule. `seed` is the lab's. A rule that can match nothing, contradicts
/// itself or lacks what its action needs is an Error with Exit::usage.
Result<fault_rule> compile(const Rule& rule, std::uint64_t seed);

/// All of a lab in its order; in addition no name twice, and no rule that an earlier one leaves
/// nothing to.
Result<std::vector<fault_rule>> compile_all(std::span<const Rule> rules, std::uint64_t seed);

/// `ppm` millionths of 2^32, to the nearest: what fault_draw() is compared with.
std::uint64_t chance_of_ppm(std::uint32_t ppm);

} // namespace rdmalab::fault
