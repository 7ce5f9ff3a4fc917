#pragma once

#include "analysis/timeline.h"
#include "analysis/trace_flows.h"
#include "base/json_fwd.h"
#include "lab/lab.h"
#include "record/record.h"
#include "wire/trace.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// A lab's events, held against the trace of a cell.
namespace rdmalab::analysis {

struct EventResult {
  std::string text; ///< as the lab file has it
  int line = 0;     ///< in the lab file
  bool met = false;
  std::optional<std::uint64_t> packet;  ///< where in the trace, from 1; of a range, the last
  std::optional<std::uint64_t> time_ns; ///< when that entered, since the start of traffic
  std::string seen;                     ///< what it was, or what was seen instead; "": not judged
};
RDMALAB_JSON_DECLARE(EventResult)

/// The events of one cell. The first packet after the event before that fits is the one that an
/// event means; packets that none fits are passed over. Behind the first event that isn't met
/// nothing on the wire is judged any more.
struct ScriptResult {
  std::string cell;
  bool certain = true; ///< false: the trace lost packets, so that a missing one proves nothing
  std::vector<EventResult> events;

  /// The first that was not met; null: all were.
  [[nodiscard]] const EventResult* broken() const;
};
RDMALAB_JSON_DECLARE(ScriptResult)

/// Nothing if the cell has none of the events' traffics.
std::optional<ScriptResult> follow_events(const lab::Lab& lab, const record::Cell& cell,
                                          const wire::Trace& trace, const TraceFlows& flows,
                                          const Timelines& timelines);

} // namespace rdmalab::analysis
