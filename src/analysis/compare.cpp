#include "analysis/compare.h"

#include "analysis/statistics.h"

#include <algorithm>
#include <cmath>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::analysis {
namespace {

Error refusal(std::string text, std::string hint)
{
  return usage_error("compare: " + std::move(text), std::move(hint));
}

std::optional<double> as_double(std::optional<std::uint64_t> value)
{
  if (!value) return std::nullopt;
  return static_cast<double>(*value);
}

Change judge(const FigureChange& f)
{
  if (std::abs(f.after - f.before) <= least_change * std::abs(f.before)) return Change::noise;
  if (!f.before_low || !f.before_high || !f.after_low || !f.after_high) return Change::inconclusive;
  if (*f.after_high < *f.before_low) return Change::regressed;
  if (*f.after_low > *f.before_high) return Change::improved;
  const bool near = f.relative && std::abs(*f.relative) <= uncertain_change;
  return near ? Change::noise : Change::inconclusive;
}

void add(Comparison& comparison, FigureChange figure)
{
  if (figure.before != 0) figure.relative = rounded(figure.after / figure.before - 1);
  figure.change = judge(figure);
  comparison.figures.push_back(std::move(figure));
}

void add_goodput(Comparison& comparison, const std::string& traffic, const std::string& figure,
                 const std::optional<ConditionResult>& before,
                 const std::optional<ConditionResult>& after)
{
  if (!before || !after) return;
  FigureChange f;
  f.traffic = traffic;
  f.figure = figure;
  f.unit = "bit/s";
  f.before = static_cast<double>(before->goodput_bps);
  f.after = static_cast<double>(after->goodput_bps);
  f.before_low = as_double(before->low_bps);
  f.before_high = as_double(before->high_bps);
  f.after_low = as_double(after->low_bps);
  f.after_high = as_double(after->high_bps);
  add(comparison, std::move(f));
}

void add_retention(Comparison& comparison, const std::string& traffic,
                   const std::optional<Retention>& before, const std::optional<Retention>& after)
{
  if (!before || !after) return;
  add(comparison, {traffic,
                   "retention",
                   "",
                   before->value,
                   after->value,
                   before->low,
                   before->high,
                   after->low,
                   after->high,
                   {},
                   {}});
}

Change worst(const std::vector<FigureChange>& figures)
{
  for (const Change c : {Change::regressed, Change::inconclusive, Change::improved})
    if (std::any_of(figures.begin(), figures.end(),
                    [&](const FigureChange& f) { return f.change == c; }))
      return c;
  return Change::noise;
}

Status comparable(const Result& before, const Result& after)
{
  if (before.environment.clock != after.environment.clock)
    return refusal(fmt::format("the clocks differ: {} before, {} after", before.environment.clock,
                               after.environment.clock),
                   "run both with the same --clock");
  if (before.lab != after.lab)
    return refusal(fmt::format("the labs differ: {} before, {} after", before.lab, after.lab),
                   "compare two results of one lab");
  for (const auto& [name, result] : {std::pair{"first", &before}, std::pair{"second", &after}})
    if (!result->problems.empty())
      return refusal(fmt::format("the {} result is invalid: {}", name, result->problems.front()),
                     "only runs that prove themselves can be compared");
  return {};
}

void note_difference(Comparison& comparison, const std::string& what, const std::string& before,
                     const std::string& after)
{
  if (before != after)
    comparison.notes.push_back(fmt::format("{} differs: {} before, {} after.", what,
                                           before.empty() ? "none" : before,
                                           after.empty() ? "none" : after));
}

} // namespace

rdmalab::Result<Comparison> compare(const Result& before, const Result& after)
{
  TRY(comparable(before, after));
  Comparison comparison;
  comparison.lab = after.lab;
  comparison.clock = after.environment.clock;
  comparison.before_digest = before.record_digest;
  comparison.after_digest = after.record_digest;
  for (const TrafficResult& now : after.traffic) {
    const auto then = std::find_if(before.traffic.begin(), before.traffic.end(),
                                   [&](const TrafficResult& t) { return t.name == now.name; });
    if (then == before.traffic.end()) {
      comparison.notes.push_back(now.name + " is only in the second result.");
      continue;
    }
    add_goodput(comparison, now.name, "baseline goodput", then->baseline, now.baseline);
    add_goodput(comparison, now.name, "faulted goodput", then->faulted, now.faulted);
    add_retention(comparison, now.name, then->retention, now.retention);
  }
  for (const TrafficResult& then : before.traffic)
    if (std::none_of(after.traffic.begin(), after.traffic.end(),
                     [&](const TrafficResult& t) { return t.name == then.name; }))
      comparison.notes.push_back(then.name + " is only in the first result.");
  if (comparison.figures.empty()) return refusal("the results have no traffic in common", "");
  note_difference(comparison, "The engine", before.environment.engine, after.environment.engine);
  note_difference(comparison, "The accelerator", before.environment.accelerator,
                  after.environment.accelerator);
  note_difference(comparison, "The kernel", before.environment.kernel, after.environment.kernel);
  note_difference(comparison, "QEMU", before.environment.qemu, after.environment.qemu);
  note_difference(comparison, "rdmalab", before.environment.rdmalab, after.environment.rdmalab);
  if (before.record_digest == after.record_digest)
    comparison.notes.push_back("Both measured the same, bit for bit.");
  comparison.change = worst(comparison.figures);
  return comparison;
}

} // namespace rdmalab::analysis
