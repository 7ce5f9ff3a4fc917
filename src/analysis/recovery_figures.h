#pragma once

#include "base/json_fwd.h"

#include <cstdint>
#include <optional>
#include <string>

namespace rdmalab::analysis {

/// Recovery in figures: of one direction of a flow, or of all flows of a traffic. Medians
/// are over episodes (the upper one of two), ns; null where no episode has the figure.
struct RecoverySummary {
  std::string traffic;
  std::string transport;          ///< "rc" or "tcp"
  std::uint64_t flows = 0;        ///< directions of flows
  std::uint64_t lost = 0;         ///< packets of any kind
  std::uint64_t icrc_drops = 0;   ///< of these: by a stale ICRC, which rxe does not count
  std::uint64_t lost_again = 0;   ///< of these: not the first transmission
  std::uint64_t naks = 0;         ///< that entered in answer to a gap
  std::uint64_t naks_ignored = 0; ///< of these: the sender waited for its timer all the same
  std::uint64_t by_signal = 0;    ///< recoveries after a NAK, an implied one, RNR, SACK
  std::uint64_t by_timer = 0;     ///< recoveries of which a round began by a timer
  std::uint64_t unfinished = 0;   ///< episodes that the trace does not end
  std::uint64_t timer_rounds = 0; ///< how often a timer made the sender go back
  std::optional<std::uint64_t> nak_generation_ns;
  std::optional<std::uint64_t> nak_reaction_ns;
  std::optional<std::uint64_t> recover_signal_ns; ///< of by_signal
  std::optional<std::uint64_t> recover_timer_ns;  ///< of by_timer
  std::optional<std::uint64_t> recover_ns;        ///< of both
  std::optional<std::uint64_t> longest_ns;
  std::uint64_t packets = 0; ///< first time
  std::uint64_t bytes = 0;
  std::uint64_t packets_again = 0;
  std::uint64_t bytes_again = 0;
  std::uint64_t bytes_needless = 0; ///< of bytes_again: thrown away before, or already there
  std::uint64_t violations = 0;     ///< directions that broke a rule of the protocol
};
RDMALAB_JSON_DECLARE(RecoverySummary)

} // namespace rdmalab::analysis
