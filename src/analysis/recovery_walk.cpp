#include "analysis/recovery_walk.h"

#include <algorithm>

namespace rdmalab::analysis {

std::string cause_of(const wire::Trace& trace, const TraceFlows& flows, const Passage& passage)
{
  const bool took =
      passage.action == wire::FaultAction::drop || passage.action == wire::FaultAction::corrupt;
  if (took && passage.rule != 0 && passage.rule <= trace.rules.size())
    return trace.rules[passage.rule - 1U];
  return flows.netem_drops ? "netem" : "unknown";
}

Loss loss_of(const wire::Trace& trace, const TraceFlows& flows, const Passage& passage)
{
  Loss loss;
  loss.packet = packet_number(passage);
  loss.time_ns = passage.entered_ns;
  loss.payload = passage.payload;
  loss.cause = cause_of(trace, flows, passage);
  loss.stale_icrc = passage.fate == Fate::stale;
  loss.certain = trace.lost == 0 || loss.stale_icrc || passage.action == wire::FaultAction::drop;
  return loss;
}

bool is_timer(Trigger trigger)
{
  return trigger == Trigger::timer || trigger == Trigger::rto || trigger == Trigger::tail_probe;
}

Trigger decisive(const std::vector<Round>& rounds)
{
  if (rounds.empty()) return Trigger::none;
  for (const Trigger worst : {Trigger::rto, Trigger::timer, Trigger::tail_probe})
    if (std::ranges::any_of(rounds, [&](const Round& r) { return r.trigger == worst; }))
      return worst;
  return rounds.back().trigger;
}

WireState wait_for(Trigger trigger)
{
  if (is_timer(trigger)) return WireState::timer_wait;
  if (trigger == Trigger::nak || trigger == Trigger::implied_nak ||
      trigger == Trigger::fast_retransmit)
    return WireState::nak_wait;
  return WireState::other;
}

void close_episode(Episode& episode, std::uint64_t end_ns)
{
  episode.end_ns = end_ns;
  episode.recover_ns = end_ns - episode.begin_ns;
  episode.by = decisive(episode.rounds);
}

std::string trigger_words(Trigger trigger)
{
  switch (trigger) {
  case Trigger::none:
    return "nothing sent again";
  case Trigger::nak:
    return "NAK";
  case Trigger::implied_nak:
    return "implied NAK";
  case Trigger::rnr:
    return "RNR NAK";
  case Trigger::timer:
    return "time-out";
  case Trigger::fast_retransmit:
    return "fast retransmit";
  case Trigger::tail_probe:
    return "tail-loss probe";
  case Trigger::rto:
    return "RTO";
  case Trigger::unknown:
    return "unknown";
  }
  return "unknown";
}

} // namespace rdmalab::analysis
