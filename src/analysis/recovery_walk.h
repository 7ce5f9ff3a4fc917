#pragma once

#include "analysis/recovery.h"
#include "analysis/timeline.h"

#include <string>
#include <vector>

/// What follows one direction of a flow through the trace, and what is left for the time split.
namespace rdmalab::analysis {

struct FlowHistory {
  FlowRecovery recovery;
  std::vector<bool> again;      ///< by passage: this direction sent its position before
  std::vector<StateSpan> waits; ///< nak_wait and timer_wait
  bool empty = true;            ///< this direction sent nothing
};

/// The requests of one end of a QP and their answers.
FlowHistory follow_verbs(const wire::Trace& trace, const TraceFlows& flows, const VerbsFlow& flow,
                         const Timeline& timeline, bool initiator_asks);
/// The data of one end of a TCP stream and its acknowledgements.
FlowHistory follow_tcp(const wire::Trace& trace, const TraceFlows& flows, const TcpFlow& flow,
                       const Timeline& timeline, bool from_client);

/// Who took a packet: the fault rule's name if it dropped or corrupted it, "netem" or "unknown".
std::string cause_of(const wire::Trace& trace, const TraceFlows& flows, const Passage& passage);
/// A loss, but for its kind, position and transmission.
Loss loss_of(const wire::Trace& trace, const TraceFlows& flows, const Passage& passage);
/// What an episode was recovered by, from its rounds.
Trigger decisive(const std::vector<Round>& rounds);
/// The state in which a sender is until a round with this trigger begins.
WireState wait_for(Trigger trigger);
/// Ends an episode.
void close_episode(Episode& episode, std::uint64_t end_ns);

} // namespace rdmalab::analysis
