#include "analysis/faults.h"

#include "analysis/kinds.h"
#include "analysis/samples.h"
#include "analysis/statistics.h"
#include "analysis/words.h"
#include "base/json.h"
#include "base/units.h"
#include "base/wide.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::analysis {
namespace {

using lab::FaultKind;
using record::Impairment;

std::string place_words(const lab::Fault& fault)
{
  if (fault.from && fault.to) return fmt::format("{} to {}", *fault.from, *fault.to);
  if (fault.to) return "to " + *fault.to;
  return "from " + fault.from.value_or("?");
}

std::string setting_words(const lab::Fault& fault)
{
  switch (fault.kind) {
  case FaultKind::loss:
  case FaultKind::duplicate:
  case FaultKind::reorder:
  case FaultKind::corrupt:
    return units::format_share(fault.rate_ppm);
  case FaultKind::burst_loss:
    return fmt::format("p {} r {}", units::format_share(fault.p_ppm),
                       units::format_share(fault.r_ppm));
  case FaultKind::delay:
    return "+" + units::format_time(fault.delay_ns);
  case FaultKind::jitter:
    return "±" + units::format_time(fault.jitter_ns);
  case FaultKind::rate:
    return units::format_rate(fault.rate_bps);
  }
  return {};
}

/// The share of packets that this netem hits by the fault's kind; nothing for kinds that have no
/// share.
std::optional<std::uint64_t> share_of(FaultKind kind, const Netem& netem)
{
  switch (kind) {
  case FaultKind::loss:
    return netem.gilbert_elliott ? 0 : netem.loss_ppm;
  case FaultKind::burst_loss:
    if (!netem.gilbert_elliott) return 0;
    return burst_mean_ppm(netem.ge_p_ppm, netem.ge_r_ppm, netem.ge_bad_loss_ppm,
                          netem.ge_good_loss_ppm);
  case FaultKind::duplicate:
    return netem.duplicate_ppm;
  case FaultKind::reorder:
    return netem.reorder_ppm;
  case FaultKind::corrupt:
    return netem.corrupt_ppm;
  case FaultKind::delay:
  case FaultKind::jitter:
  case FaultKind::rate:
    break;
  }
  return std::nullopt;
}

/// Was this netem told to do what the fault asks for?
bool carries(const lab::Fault& fault, const Netem& netem)
{
  switch (fault.kind) {
  case FaultKind::loss:
    return !netem.gilbert_elliott && netem.loss_ppm == fault.rate_ppm;
  case FaultKind::burst_loss:
    return netem.gilbert_elliott && netem.ge_p_ppm == fault.p_ppm && netem.ge_r_ppm == fault.r_ppm;
  case FaultKind::duplicate:
    return netem.duplicate_ppm == fault.rate_ppm;
  case FaultKind::reorder:
    return netem.reorder_ppm == fault.rate_ppm;
  case FaultKind::corrupt:
    return netem.corrupt_ppm == fault.rate_ppm;
  case FaultKind::delay:
    return netem.delay_ns >= fault.delay_ns;
  case FaultKind::jitter:
    return netem.jitter_ns == fault.jitter_ns;
  case FaultKind::rate:
    return netem.rate_bps == fault.rate_bps;
  }
  return false;
}

/// Where the fault sits in this cell: at the receiver's port, or else behind the sender's.
const Impairment* impairment_of(const lab::Fault& fault, const record::Cell& cell)
{
  const auto at = [&](const std::string& host, bool up) -> const Impairment* {
    for (const Impairment& i : cell.impairments)
      if (i.host == host && i.up == up && carries(fault, i.requested)) return &i;
    return nullptr;
  };
  const Impairment* found = fault.to ? at(*fault.to, false) : nullptr;
  if (found == nullptr && fault.from) found = at(*fault.from, true);
  return found;
}

struct Counts {
  std::uint64_t trials = 0;
  std::uint64_t hits = 0;
};

/// Packets that could be hit and those that were. netem draws for loss once per packet that comes
/// in, the copies that it makes included (they enter again), for corruption after that, and for
/// reordering only after gap−1 packets in order (net/sched/sch_netem.c, netem_enqueue).
Counts counts_of(const lab::Fault& fault, const Impairment& i)
{
  const std::uint64_t offered = i.packets + i.dropped + i.overflowed;
  switch (fault.kind) {
  case FaultKind::loss:
  case FaultKind::burst_loss:
    return {offered, i.dropped};
  case FaultKind::duplicate:
    return {offered - std::min(offered, i.duplicated), i.duplicated};
  case FaultKind::corrupt:
    return {offered - i.dropped, i.corrupted};
  case FaultKind::reorder: {
    const std::uint64_t survived = offered - i.dropped;
    const std::uint64_t exempt = i.reordered * (std::max<std::uint64_t>(fault.gap, 1) - 1);
    return {survived - std::min(survived, exempt), i.reordered};
  }
  case FaultKind::delay:
  case FaultKind::jitter:
  case FaultKind::rate:
    break;
  }
  return {i.packets, i.delayed};
}

std::uint64_t distance(std::uint64_t a, std::uint64_t b)
{
  return a > b ? a - b : b - a;
}

/// Can a share be held against the requested one? Correlated draws of netem's do not keep the share
/// that was asked for, and only tc_netem_xstats count anything but drops.
bool observable(const lab::Fault& fault, bool exact)
{
  if (fault.correlation_ppm != 0) return false;
  return exact || fault.kind == FaultKind::loss || fault.kind == FaultKind::burst_loss;
}

class Judge {
public:
  Judge(const record::Record& record, FaultFindings& findings)
      : record_(record), findings_(findings)
  {}

  void judge(const lab::Fault& fault)
  {
    result_ = {};
    trials_.clear();
    result_.name = fault.name;
    result_.kind = kind_name(fault.kind);
    result_.where = place_words(fault);
    result_.setting = setting_words(fault);
    if (fault.kind == FaultKind::burst_loss)
      result_.requested_ppm =
          burst_mean_ppm(fault.p_ppm, fault.r_ppm, fault.bad_loss_ppm, fault.good_loss_ppm);
    else if (share_of(fault.kind, {}))
      result_.requested_ppm = fault.rate_ppm;
    const bool exact = gather(fault);
    if (result_.requested_ppm && observable(fault, exact)) observe(fault);
    findings_.faults.push_back(std::move(result_));
  }

private:
  /// Sums over all faulted cells and compares what was applied. True if the counts are per
  /// impairment.
  bool gather(const lab::Fault& fault)
  {
    bool seen = false;
    bool exact = true;
    for (const record::Cell& cell : record_.cells) {
      if (cell.condition != faulted) continue;
      const Impairment* i = impairment_of(fault, cell);
      if (i == nullptr) {
        invalid(fmt::format("fault {} was not applied in cell {}", fault.name, cell.id));
        continue;
      }
      seen = true;
      exact = exact && i->exact;
      const Counts counts = counts_of(fault, *i);
      result_.packets += counts.trials;
      trials_[cell.seed].push_back(counts.trials);
      result_.dropped += counts.hits;
      compare_applied(fault, cell, *i);
    }
    if (seen && result_.packets == 0)
      invalid(fmt::format("no packet passed the place of fault {}", fault.name));
    return exact;
  }

  void compare_applied(const lab::Fault& fault, const record::Cell& cell, const Impairment& i)
  {
    const auto applied = share_of(fault.kind, i.applied);
    if (!result_.applied_ppm || (applied && distance(*applied, *result_.requested_ppm) > 1))
      result_.applied_ppm = applied;
    if (!i.applied_as_requested || (applied && distance(*applied, *result_.requested_ppm) > 1))
      invalid(fmt::format(
          "fault {} in cell {}: the kernel reads back something else than was requested{}",
          fault.name, cell.id,
          applied ? fmt::format(" ({} ppm for {} ppm)", *applied, *result_.requested_ppm) : ""));
  }

  void observe(const lab::Fault& fault)
  {
    result_.observed_ppm = share_ppm(result_.dropped, result_.packets);
    if (!result_.observed_ppm) return;
    double inflation = shared_draws_inflation(trials_);
    if (fault.kind == FaultKind::burst_loss) inflation *= burst_variance_inflation(fault);
    const double trials = static_cast<double>(result_.packets) / inflation;
    const double hits = static_cast<double>(result_.dropped) / inflation;
    const PpmInterval shown = wilson_ppm(hits, trials);
    result_.observed_low_ppm = shown.low_ppm;
    result_.observed_high_ppm = shown.high_ppm;

    const std::uint64_t requested = *result_.requested_ppm;
    const auto within = [&](const PpmInterval& i) {
      return i.low_ppm <= requested && requested <= i.high_ppm;
    };
    const std::string text = fmt::format(
        "fault {}: {} ppm requested, {} ppm of {} packets observed (99 % interval {} … {} ppm)",
        fault.name, requested, *result_.observed_ppm, count_words(result_.packets), shown.low_ppm,
        shown.high_ppm);
    if (!within(wilson_ppm(hits, trials, z_one_in_a_million))) {
      invalid(text + ": more than chance explains");
    } else if (!within(shown)) {
      result_.consistent = false;
      findings_.notes.push_back(text + ": outside, as chance has it once in a hundred runs.");
    }
  }

  void invalid(std::string text)
  {
    result_.consistent = false;
    findings_.problems.push_back({Exit::setup, std::move(text)});
  }

  const record::Record& record_;
  FaultFindings& findings_;
  FaultResult result_;
  std::map<std::uint64_t, std::vector<std::uint64_t>> trials_; ///< by the cells' seed
};

} // namespace

std::uint64_t burst_mean_ppm(std::uint64_t p_ppm, std::uint64_t r_ppm, std::uint64_t bad_ppm,
                             std::uint64_t good_ppm)
{
  const std::uint64_t leave = p_ppm + r_ppm;
  if (leave == 0) return good_ppm;
  const Wide sum = static_cast<Wide>(p_ppm) * bad_ppm + static_cast<Wide>(r_ppm) * good_ppm;
  return static_cast<std::uint64_t>((sum + leave / 2) / leave);
}

double burst_variance_inflation(const lab::Fault& fault)
{
  const double p = static_cast<double>(fault.p_ppm) / 1e6;
  const double r = static_cast<double>(fault.r_ppm) / 1e6;
  if (p + r <= 0) return 1;
  const double bad = p / (p + r);
  const double b = static_cast<double>(fault.bad_loss_ppm) / 1e6;
  const double g = static_cast<double>(fault.good_loss_ppm) / 1e6;
  const double m = bad * b + (1 - bad) * g;
  if (m <= 0 || m >= 1) return 1;
  const double memory = 1 - p - r;
  const double factor =
      1 + 2 * memory / (p + r) * (b - g) * (b - g) * bad * (1 - bad) / (m * (1 - m));
  return std::max(factor,
                  1.0); // a channel that alternates has less variance; keep the wider interval
}

double shared_draws_inflation(const std::map<std::uint64_t, std::vector<std::uint64_t>>& trials)
{
  double sum = 0;
  double squares = 0;
  for (const auto& [seed, packets] : trials) {
    std::vector<std::uint64_t> sorted = packets;
    std::ranges::sort(sorted);
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const auto draws = static_cast<double>(sorted[i] - before); // that so many cells have met
      const auto cells = static_cast<double>(sorted.size() - i);
      sum += draws * cells;
      squares += draws * cells * cells;
      before = sorted[i];
    }
  }
  return sum > 0 ? squares / sum : 1;
}

FaultFindings judge_faults(const record::Record& record)
{
  FaultFindings findings;
  Judge judge(record, findings);
  for (const lab::Fault& fault : record.lab.faults) judge.judge(fault);
  return findings;
}

} // namespace rdmalab::analysis
