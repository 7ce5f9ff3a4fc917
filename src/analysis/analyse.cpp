#include "analysis/analyse.h"

#include "analysis/claims.h"
#include "analysis/conclusion.h"
#include "analysis/cpu.h"
#include "analysis/endings.h"
#include "analysis/expectations.h"
#include "analysis/faults.h"
#include "analysis/kinds.h"
#include "analysis/limit.h"
#include "analysis/model.h"
#include "analysis/path.h"
#include "analysis/proof.h"
#include "analysis/rules.h"
#include "analysis/samples.h"
#include "analysis/stages.h"
#include "analysis/statistics.h"
#include "analysis/wire_rate.h"
#include "analysis/words.h"
#include "base/json.h"
#include "lab/figure_unit.h"
#include "lab/operation.h"

#include <algorithm>
#include <cmath>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::analysis {
namespace {

std::uint64_t whole(double value)
{
  return value > 0 ? static_cast<std::uint64_t>(std::llround(value)) : 0;
}

std::optional<Latency> latency_of(const std::vector<Sample>& samples)
{
  record::Histogram all;
  for (const Sample& s : samples) all.merge(s.flow->latency);
  if (all.count() == 0) return std::nullopt;
  return Latency{all.quantile(500'000), all.quantile(990'000), all.quantile(999'000), all.max()};
}

std::optional<ConditionResult> condition_of(const std::vector<Sample>& samples)
{
  if (samples.empty()) return std::nullopt;
  const std::vector<double> values = goodputs(samples);
  ConditionResult result;
  result.goodput_bps = whole(mean(values));
  if (const auto interval = mean_interval(values)) {
    result.low_bps = whole(interval->low);
    result.high_bps = whole(interval->high);
  }
  for (const double v : values) result.repeats_bps.push_back(whole(v));
  result.latency = latency_of(samples);
  return result;
}

std::optional<FigureResult> figure_result_of(const std::vector<Sample>& samples)
{
  const std::vector<double> values = printed_figures(samples);
  if (values.empty()) return std::nullopt;
  FigureResult result;
  result.value = rounded(mean(values)).value_or(0);
  if (const auto interval = mean_interval(values)) {
    result.low = rounded(std::max(0.0, interval->low));
    result.high = rounded(interval->high);
  }
  for (const double v : values) result.repeats.push_back(whole(v));
  return result;
}

std::optional<ProgramFigure> program_figure_of(const lab::Traffic& traffic,
                                               const std::vector<Sample>& before,
                                               const std::vector<Sample>& after)
{
  const lab::FigureUnit* unit = lab::printed_unit_of(traffic);
  if (unit == nullptr) return std::nullopt;
  const char* inside = unit->dimension == lab::Dimension::time    ? "ns"
                       : unit->dimension == lab::Dimension::count ? "count"
                                                                  : "bit/s";
  return ProgramFigure{inside, figure_result_of(before), figure_result_of(after)};
}

std::optional<Retention> retention_of(const std::vector<Sample>& before,
                                      const std::vector<Sample>& after)
{
  if (before.empty() || after.empty()) return std::nullopt;
  const auto below = goodputs(before);
  const auto above = goodputs(after);
  const auto value = ratio(above, below);
  if (!value) return std::nullopt;
  Retention retention;
  retention.value = rounded(*value).value_or(0);
  if (const auto interval = ratio_interval(above, below)) {
    retention.low = rounded(interval->low);
    retention.high = rounded(interval->high);
  }
  return retention;
}

void add_counters(TrafficResult& result, const std::vector<Sample>& samples)
{
  for (const Sample& s : samples) {
    for (const record::Counters& c : s.cell->counters) {
      auto& sums = result.counters[c.host];
      for (const auto& [name, value] : c.rdma) sums[name] += value;
      for (const auto& [name, value] : c.device)
        if (!c.rdma.contains(name)) sums[name] += value;
    }
    for (const auto& [status, count] : s.flow->completions) result.completions[status] += count;
  }
}

/// Mean over all cells of the traffic that set up.
std::map<std::string, std::uint64_t> setup_of(const std::vector<Sample>& before,
                                              const std::vector<Sample>& after)
{
  std::map<std::string, std::vector<double>> times;
  for (const auto* samples : {&before, &after})
    for (const Sample& s : *samples)
      for (const auto& [step, ns] : s.flow->setup_ns)
        times[step].push_back(static_cast<double>(ns));
  std::map<std::string, std::uint64_t> means;
  for (const auto& [step, each] : times) means[step] = whole(mean(each));
  return means;
}

/// False for what is over before the window is: how fast it was says nothing about the link.
bool lasts(const lab::Lab& lab, const lab::Traffic& traffic)
{
  const bool counted = traffic.kind == lab::TrafficKind::verbs && traffic.verbs.messages != 0;
  const bool local =
      traffic.kind == lab::TrafficKind::verbs && lab::operation_of(traffic.verbs.op).local;
  return !counted && !local && expected_end(lab, traffic, baseline) == "ok";
}

/// What of a traffic's own keys is not the default.
std::map<std::string, std::string> options_of(const Json& options, const Json& defaults)
{
  std::map<std::string, std::string> own;
  for (const auto& [key, value] : options.items())
    if (value != defaults.at(key))
      own[key] = value.is_string() ? value.get<std::string>() : value.dump();
  return own;
}

TrafficResult traffic_result(const record::Record& record, const lab::Traffic& traffic,
                             std::vector<std::string>& notes)
{
  const auto before = samples_of(record, traffic.name, baseline);
  const auto after = samples_of(record, traffic.name, faulted);
  TrafficResult result;
  result.name = traffic.name;
  result.kind = kind_name(traffic.kind);
  result.from = traffic.from;
  result.to = traffic.to;
  if (traffic.kind != lab::TrafficKind::command) result.message_bytes = traffic.message_bytes;
  if (traffic.kind == lab::TrafficKind::verbs) {
    result.in_flight = std::uint64_t{traffic.verbs.depth} * traffic.verbs.qps;
    result.options = options_of(traffic.verbs, lab::Verbs{});
  }
  if (traffic.kind == lab::TrafficKind::tcp) {
    result.in_flight = std::uint64_t{traffic.tcp.depth} * traffic.tcp.streams;
    result.options = options_of(traffic.tcp, lab::Tcp{});
  }
  result.figure = program_figure_of(traffic, before, after);
  // What tells no rate has no goodput; that is no goodput of zero.
  if (lab::tells_goodput(traffic)) {
    result.baseline = condition_of(before);
    result.faulted = condition_of(after);
    result.retention = retention_of(before, after);
    if (lasts(record.lab, traffic)) result.limit = limit_of(record, traffic);
  }
  result.cpu = cpu_of(after.empty() ? before : after);
  result.cpu_baseline = cpu_of(before);
  result.broke = broken_flows(record, traffic);
  result.ended = foreseen_ends(record, traffic);
  result.setup_ns = setup_of(before, after);
  add_counters(result, after.empty() ? before : after);
  for (const auto* samples : {&before, &after})
    for (const Sample& s : *samples) {
      result.checked_messages += s.flow->checked_messages;
      result.corrupt_messages += s.flow->corrupt_messages;
    }

  if (result.retention && lasts(record.lab, traffic)) {
    const std::uint32_t payload = packet_payload(record.lab, traffic, payload_in_force(before));
    Prediction prediction = predict(record.lab, traffic, mean(goodputs(before)), payload);
    if (prediction.retention) result.retention->predicted = rounded(*prediction.retention);
    for (std::string& note : prediction.notes) notes.push_back(std::move(note));
  }
  if (result.limit && result.limit->by == "core")
    notes.push_back(fmt::format(
        "{}: the core, not the link, limits the baseline, so retention compares with what this "
        "core can do; a slower link makes it a statement about loss.",
        traffic.name));
  return result;
}

void general_notes(const record::Record& record, std::vector<std::string>& notes)
{
  if (record.environment.clock == "virtual")
    notes.push_back("Virtual clock: one instruction is one nanosecond. Times are guest times and "
                    "CPU figures are "
                    "instruction counts.");
  if (record.lab.topology.offloads)
    notes.push_back("Offloads are on: netem loses whole super-packets of TCP, so equal loss rates "
                    "are not equal losses.");
  if (record.lab.measure.repeat == 1)
    notes.push_back("One repeat: there is no interval, and the values alone decide.");
  for (const auto& group : groups_of(record.lab))
    if (group.size() > 1)
      notes.push_back(fmt::format("{} ran together: the CPU shown for each is that of all of them.",
                                  fmt::join(group, ", ")));
  if (std::ranges::any_of(record.lab.traffic, lab::over_iwarp))
    notes.push_back(
        "iWARP: what siw does not send within a system call, a kernel thread sends that "
        "serves all hosts; its CPU is in the core's share, but in no host's.");
}

Problems unforeseen_breaks(const record::Record& record, const Result& result)
{
  Problems problems;
  for (const TrafficResult& t : result.traffic)
    if (const lab::Traffic* traffic = find_traffic(record.lab, t.name);
        !t.broke.empty() && (traffic->ends != "ok" || !foresees_breaking(record.lab, t.name)))
      problems.push_back({Exit::traffic, fmt::format("{} broke under the fault: {}", t.name,
                                                     fmt::join(t.broke, "; "))});
  return problems;
}

/// The gravest first: a kernel bug explains broken traffic, broken traffic explains a missing
/// figure.
Exit gravest(const Problems& problems)
{
  for (const Exit exit : {Exit::guest, Exit::traffic})
    if (std::any_of(problems.begin(), problems.end(),
                    [&](const Problem& p) { return p.exit == exit; }))
      return exit;
  return Exit::setup;
}

Verdict overall(const Result& result)
{
  if (!result.problems.empty()) return Verdict::invalid;
  const auto any = [&](Verdict v) {
    return std::any_of(result.expectations.begin(), result.expectations.end(),
                       [&](const ExpectationResult& e) { return e.verdict == v; });
  };
  for (const Verdict v : {Verdict::invalid, Verdict::fail, Verdict::inconclusive})
    if (any(v)) return v;
  return Verdict::pass;
}

} // namespace

Result analyse(const record::Record& record)
{
  Result result;
  result.lab = record.lab.name;
  result.hypothesis = record.lab.hypothesis;
  result.record_digest = record::digest(record);
  result.environment = record.environment;
  result.timing = record.timing;

  general_notes(record, result.notes);
  for (const lab::Traffic& traffic : record.lab.traffic)
    result.traffic.push_back(traffic_result(record, traffic, result.notes));

  Proof proof = prove(record);
  FaultFindings findings = judge_faults(record);
  result.faults = std::move(findings.faults);
  RuleFindings rules = judge_rules(record);
  result.rules = std::move(rules.rules);
  for (auto* notes : {&proof.notes, &findings.notes})
    for (std::string& note : *notes) result.notes.push_back(std::move(note));

  Problems problems = std::move(proof.problems);
  for (const record::Cell& cell : record.cells) {
    auto recovery = recovery_of(record, cell);
    if (!recovery)
      problems.push_back({Exit::setup, cell.id + ": " + recovery.error().message()});
    else if (*recovery)
      result.recovery.push_back(std::move(**recovery));
    if (cell.trace_info.lost != 0)
      result.notes.push_back(fmt::format("{}: {} packets found no room in the trace.", cell.id,
                                         count_words(cell.trace_info.lost)));
  }
  result.path = path_report(record);
  append(problems, judge_paths(record));
  append(problems, std::move(findings.problems));
  append(problems, std::move(rules.problems));
  append(problems, unforeseen_breaks(record, result));
  for (const Problem& p : problems) result.problems.push_back(p.text);
  // Without proof there is no number to quote; the goodputs stay, to find out what went wrong.
  if (!problems.empty())
    for (TrafficResult& t : result.traffic) t.retention.reset();

  result.expectations = judge_expectations(record, result);
  if (auto events = judge_events(record, result)) result.expectations.push_back(std::move(*events));
  result.claims = judge_claims(record, result);
  result.conclusion = conclude(record, result);
  result.verdict = overall(result);
  result.exit_code = static_cast<int>(Exit::ok);
  if (result.verdict == Verdict::fail) result.exit_code = static_cast<int>(Exit::expectation);
  if (result.verdict == Verdict::invalid) result.exit_code = static_cast<int>(gravest(problems));
  return result;
}

Exit exit_status(const Result& result, bool strict)
{
  if (result.verdict == Verdict::inconclusive) return strict ? Exit::inconclusive : Exit::ok;
  return static_cast<Exit>(result.exit_code);
}

} // namespace rdmalab::analysis
