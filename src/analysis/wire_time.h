#pragma once

#include "analysis/recovery_walk.h"

#include <map>
#include <string>
#include <vector>

namespace rdmalab::analysis {

/// When packets with payload were on the wire, by traffic: spans of link and replay.
///
/// With a link rate each packet takes its length divided by the rate, one after the other in the
/// order in which they entered at its host, whichever flow they belong to: bursts queue. A packet
/// that a fault drops takes its time, too, since it was sent. Without a rate a packet takes the
/// time since the traffic's packet before it, unless that is more than 8 times the median of these
/// gaps: then one median.
std::map<std::string, std::vector<StateSpan>>
wire_spans(const wire::Trace& trace, const TraceFlows& flows, const Timelines& timelines,
           const std::vector<std::vector<bool>>& verbs_again,
           const std::vector<std::vector<bool>>& tcp_again);

} // namespace rdmalab::analysis
