#pragma once

#include "base/json_fwd.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace rdmalab::lab {

/// What a rule does to a packet. corrupt: payload bytes change and the ICRC (TCP: the checksum)
/// stays as it was; forge: it is made right again, so that only comparing the payload tells.
enum class RuleKind { drop, delay, duplicate, reorder, corrupt, forge, mark, rewrite };
RDMALAB_JSON_DECLARE(RuleKind)

/// From first to last, both included.
struct Span {
  std::uint64_t first = 0;
  std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  bool operator==(const Span&) const = default;
};
RDMALAB_JSON_DECLARE(Span)

/// A fault addressed to packets of one traffic. A packet is hit if everything here holds for it and
/// no rule before took it.
struct Rule {
  std::string name;
  RuleKind kind = RuleKind::drop;
  std::string traffic;
  std::optional<std::uint32_t> stream; ///< QP or TCP stream, from 0 in order of creation; none: all
  std::vector<std::string> classes;    ///< packet classes as lab files write them; empty: all
  std::vector<std::string> positions;  ///< first, middle, last, only; empty: all
  std::string opcode;                  ///< BTH's, "RC_RDMA_WRITE_MIDDLE"; "": any
  std::vector<Span> numbers; ///< PSN after the QP's first, or TCP payload bytes; empty: all
  Span transmission{1, std::numeric_limits<std::uint32_t>::max()}; ///< 1: the first time
  std::uint32_t every = 1;            ///< the every-th match, and so on
  std::uint64_t rate_ppm = 1'000'000; ///< decided by a hash of seed and packet
  std::string draw;           ///< rules of the same draw decide alike for the n-th data packet
  std::uint64_t p_ppm = 0;    ///< bursts: P(good→bad) a match; 0: none
  std::uint64_t r_ppm = 0;    ///< P(bad→good)
  std::uint64_t begin_ns = 0; ///< after the start of traffic
  std::uint64_t end_ns = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t limit = 0; ///< at most so many hits; 0: no limit
  bool may_miss = false;   ///< need not hit anything

  std::uint64_t delay_ns = 0;        ///< delay
  std::uint32_t packets = 0;         ///< reorder: so many pass first
  std::uint32_t offset = 0;          ///< corrupt, forge: into the packet's payload
  std::uint32_t bytes = 1;           ///< corrupt, forge: how many
  std::optional<std::uint32_t> dscp; ///< rewrite
  std::optional<std::uint32_t> ttl;  ///< rewrite
};
RDMALAB_JSON_DECLARE(Rule)

/// What a rule hits, in words: "data 1000, sent the 1st time", "ack, every 100th".
std::string rule_words(const Rule& rule);
/// "drop", "mark".
std::string kind_words(RuleKind kind);

} // namespace rdmalab::lab
