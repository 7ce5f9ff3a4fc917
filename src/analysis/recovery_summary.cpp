#include "analysis/recovery_summary.h"

#include "base/json.h"

#include <algorithm>
#include <map>
#include <utility>

namespace rdmalab::analysis {

RDMALAB_JSON(RecoverySummary, traffic, transport, flows, lost, icrc_drops, lost_again, naks,
             naks_ignored, by_signal, by_timer, unfinished, timer_rounds, nak_generation_ns,
             nak_reaction_ns, recover_signal_ns, recover_timer_ns, recover_ns, longest_ns, packets,
             bytes, packets_again, bytes_again, bytes_needless, violations)

namespace {

std::optional<std::uint64_t> median_of(std::vector<std::uint64_t> values)
{
  if (values.empty()) return {};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The figures of which medians are taken.
struct EpisodeTimes {
  std::vector<std::uint64_t> generation;
  std::vector<std::uint64_t> reaction;
  std::vector<std::uint64_t> by_signal;
  std::vector<std::uint64_t> by_timer;
};

void count_episode(const Episode& e, RecoverySummary& s, EpisodeTimes& times)
{
  const bool timer = is_timer(e.by);
  s.naks += static_cast<std::uint64_t>(
      std::ranges::count_if(e.answers, [](const Answer& a) { return a.kind == "nak"; }));
  s.timer_rounds += static_cast<std::uint64_t>(
      std::ranges::count_if(e.rounds, [](const Round& r) { return is_timer(r.trigger); }));
  s.naks_ignored += e.naks_ignored;
  s.bytes_needless += e.bytes_thrown_away + e.bytes_already_there;
  if (e.nak_generation_ns) times.generation.push_back(*e.nak_generation_ns);
  if (e.nak_reaction_ns) times.reaction.push_back(*e.nak_reaction_ns);
  if (!e.recover_ns) {
    ++s.unfinished;
    return;
  }
  s.longest_ns = std::max(s.longest_ns, e.recover_ns);
  if (e.rounds.empty()) return;
  ++(timer ? s.by_timer : s.by_signal);
  (timer ? times.by_timer : times.by_signal).push_back(*e.recover_ns);
}

} // namespace

RecoverySummary summarise(std::span<const FlowRecovery* const> flows)
{
  RecoverySummary s;
  EpisodeTimes times;
  s.traffic = flows.front()->traffic;
  s.transport = flows.front()->transport;
  s.flows = flows.size();
  for (const FlowRecovery* f : flows) {
    s.lost += f->losses.size();
    s.lost_again += static_cast<std::uint64_t>(
        std::ranges::count_if(f->losses, [](const Loss& l) { return l.transmission > 1; }));
    s.icrc_drops += f->icrc_drops;
    s.packets += f->packets;
    s.bytes += f->bytes;
    s.packets_again += f->packets_again;
    s.bytes_again += f->bytes_again;
    s.violations += f->check.violation ? 1U : 0U;
    for (const Episode& e : f->episodes) count_episode(e, s, times);
  }
  s.recover_signal_ns = median_of(times.by_signal);
  s.recover_timer_ns = median_of(times.by_timer);
  times.by_signal.insert(times.by_signal.end(), times.by_timer.begin(), times.by_timer.end());
  s.recover_ns = median_of(std::move(times.by_signal));
  s.nak_generation_ns = median_of(std::move(times.generation));
  s.nak_reaction_ns = median_of(std::move(times.reaction));
  return s;
}

std::vector<RecoverySummary> summarise(const RecoveryReport& report)
{
  std::vector<std::string> names;
  std::map<std::string, std::vector<const FlowRecovery*>> flows;
  for (const FlowRecovery& f : report.flows) {
    if (flows.count(f.traffic) == 0) names.push_back(f.traffic);
    flows[f.traffic].push_back(&f);
  }
  std::vector<RecoverySummary> summaries;
  summaries.reserve(names.size());
  for (const std::string& name : names) summaries.push_back(summarise(flows[name]));
  return summaries;
}

RecoveryReport excerpt(RecoveryReport report, std::size_t most)
{
  const auto cut = [&](auto& list, std::uint64_t& left_out) {
    if (list.size() <= most) return;
    left_out += list.size() - most;
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(most), list.end());
  };
  for (FlowRecovery& f : report.flows) {
    cut(f.losses, f.losses_left_out);
    cut(f.episodes, f.episodes_left_out);
  }
  return report;
}

} // namespace rdmalab::analysis
