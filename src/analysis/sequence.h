#pragma once

#include "analysis/recovery.h"
#include "base/json_fwd.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rdmalab::analysis {

/// An arrow of a sequence diagram: one packet, or a run of like ones. Times are ns since the
/// episode's first loss and may be negative.
struct SequenceStep {
  bool to_right = true;
  std::string label;      ///< "WRITE middle", "NAK", "data"
  std::string note;       ///< "thrown away", "sequence error", "SACK 2896-5792"; may be empty
  std::int64_t first = 0; ///< PSN or sequence number, of the first and the last packet of the run
  std::int64_t last = 0;
  std::uint64_t packets = 1;
  std::uint64_t number = 0; ///< of the first packet in the trace
  std::int64_t sent_ns = 0; ///< of the first; last_sent_ns of the last
  std::int64_t last_sent_ns = 0;
  std::optional<std::int64_t> arrived_ns; ///< null: it never did
  std::optional<std::int64_t> last_arrived_ns;
  bool again = false;       ///< sent before
  bool thrown_away = false; ///< the receiver had no use for it
  std::string lost_to;      ///< the fault rule's name, "netem", "unknown"; empty: not lost
  bool stale_icrc = false;  ///< lost_to corrupted it, and the receiver dropped it
};
RDMALAB_JSON_DECLARE(SequenceStep)

/// One recovery as a sequence diagram: initiator or client left, target or server right.
struct Sequence {
  std::string title; ///< "roce, QP 0: WRITE 17 lost to drop-third"
  std::string left;
  std::string right;
  std::string summary;             ///< how it was recovered, in one sentence
  std::uint64_t begin_ns = 0;      ///< on the trace's clock
  std::vector<SequenceStep> steps; ///< by the left side's time: sent to the right, arrived there
};
RDMALAB_JSON_DECLARE(Sequence)

/// One episode of a report's flow as a diagram, from the packet before the first loss to the end.
/// Nothing if there is no such flow or episode.
std::optional<Sequence> episode_sequence(const wire::Trace& trace, const TraceFlows& flows,
                                         const RecoveryReport& report, std::size_t flow,
                                         std::size_t episode);
/// The same of a trace that is sorted already.
std::optional<Sequence> episode_sequence(const wire::Trace& trace, const TraceFlows& flows,
                                         const Timelines& timelines, const RecoveryReport& report,
                                         std::size_t flow, std::size_t episode);

/// The flow and the episode that tell most: the first that needed a timer, otherwise the first that
/// sent again.
std::optional<std::pair<std::size_t, std::size_t>> telling_episode(const RecoveryReport& report);

/// "64 packets, 256 KiB, sent again, of which 60 had arrived and were thrown away".
std::string again_words(const Episode& episode);
/// "recovered by NAK after 512 us; …", or what it waited for at the end of the trace.
std::string episode_words(const Episode& episode);

} // namespace rdmalab::analysis
