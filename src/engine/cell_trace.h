#pragma once

#include "base/result.h"
#include "fault/trace.h"
#include "record/record.h"

#include <cstdint>
#include <string>
#include <vector>

/// A cell's trace on its way: the kernel that took it hands it over undecoded, since writing pcapng
/// there would take as long as the traffic did (a guest is some fifty times slower), and whoever
/// gets the cell finishes it.
namespace rdmalab::engine {

/// What a cell's trace needs to be finished, without the records.
struct TraceAbout {
  std::string title;
  std::vector<std::string> hosts;
  std::vector<std::string> rules;
  std::vector<std::uint16_t> rule_of; ///< index into `rules` of each of the programs' rules
};

/// Puts the trace into the cell as text that finish_trace() reads.
void put_raw_trace(record::Cell& cell, const TraceAbout& about, const fault::RawTrace& raw);

/// Makes Cell::trace a pcapng file, and fills in what the Record says of it. A cell without a trace
/// stays as it is.
Status finish_trace(record::Cell& cell);

} // namespace rdmalab::engine
