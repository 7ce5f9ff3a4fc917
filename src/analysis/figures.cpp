#include "analysis/figures.h"

#include "analysis/samples.h"
#include "analysis/statistics.h"
#include "analysis/words.h"

#include <algorithm>
#include <cmath>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::analysis {
namespace {

using lab::Call;
using lab::Function;
using lab::Value;
using Figure = rdmalab::Result<Value>;

constexpr double gib = 1024.0 * 1024 * 1024;

Error missing(std::string text)
{
  return {Exit::inconclusive, std::move(text), 0, {}, {}};
}

Value exactly(double value)
{
  return {value, value, value};
}

/// None of these can be negative, whatever Student's t says.
Value averaged(const std::vector<double>& values)
{
  const double m = mean(values);
  const auto interval = mean_interval(values);
  return interval ? Value{m, std::max(0.0, interval->low), interval->high} : exactly(m);
}

std::uint64_t part_of(const record::Cpu& cpu, const std::string& part)
{
  if (part == "app") return cpu.app_user_ns;
  if (part == "system") return cpu.app_system_ns;
  if (part == "rxe") return cpu.rxe_ns;
  if (part == "softirq") return cpu.softirq_ns;
  return cpu.all_ns();
}

std::uint64_t percentile_of(const record::Histogram& latency, const std::string& percentile)
{
  if (percentile == "p50") return latency.quantile(500'000);
  if (percentile == "p99") return latency.quantile(990'000);
  if (percentile == "p999") return latency.quantile(999'000);
  return latency.max();
}

class Figures {
public:
  Figures(const record::Record& record, const Result& result) : record_(record), result_(result) {}

  Figure operator()(const Call& call) const
  {
    switch (call.function) {
    case Function::retention:
      return retention(call);
    case Function::goodput:
      return goodput(call);
    case Function::latency:
      return latency(call);
    case Function::figure:
      return printed(call);
    case Function::cpu:
      return cpu(call);
    case Function::cpu_per_gib:
      return cpu_per_gib(call);
    case Function::counter:
      return counter(call);
    case Function::observed:
      return observed(call);
    case Function::corrupt:
      return corrupt(call);
    case Function::completions:
      return completions(call);
    case Function::messages:
      return messages(call);
    case Function::setup:
      return setup(call);
    case Function::fired:
    case Function::matched:
      return rule(call);
    case Function::wire:
      return wire(call);
    case Function::per_message:
    case Function::per_byte:
      return fitted(call);
    case Function::syscalls:
    case Function::copies:
    case Function::copied:
    case Function::wakeups:
    case Function::switches:
    case Function::softirqs:
    case Function::packets:
    case Function::stage:
      return path(call);
    }
    return missing("the figure is unknown");
  }

private:
  [[nodiscard]] std::vector<Sample> samples(const Call& call) const
  {
    return samples_of(record_, call.traffic, condition_of(call, record_.lab));
  }

  [[nodiscard]] Figure retention(const Call& call) const
  {
    for (const TrafficResult& t : result_.traffic) {
      if (t.name != call.traffic || !t.retention) continue;
      const Retention& r = *t.retention;
      return Value{r.value, r.low.value_or(r.value), r.high.value_or(r.value)};
    }
    return missing(fmt::format("{} has no retention", call.traffic));
  }

  [[nodiscard]] Figure goodput(const Call& call) const
  {
    const auto found = samples(call);
    if (found.empty()) return unmeasured(call);
    return averaged(goodputs(found));
  }

  [[nodiscard]] Figure latency(const Call& call) const
  {
    record::Histogram all;
    std::vector<double> each;
    for (const Sample& s : samples(call)) {
      if (s.flow->latency.count() == 0) continue;
      all.merge(s.flow->latency);
      each.push_back(static_cast<double>(percentile_of(s.flow->latency, call.percentile)));
    }
    if (all.count() == 0) return missing(fmt::format("no message of {} was timed", call.traffic));
    const auto value = static_cast<double>(percentile_of(all, call.percentile));
    const auto [low, high] = std::minmax_element(each.begin(), each.end());
    return Value{value, std::min(value, *low), std::max(value, *high)};
  }

  [[nodiscard]] Figure printed(const Call& call) const
  {
    const auto values = printed_figures(samples(call));
    if (values.empty()) return missing(fmt::format("{} has no figure", call.traffic));
    return averaged(values);
  }

  [[nodiscard]] Figure cpu(const Call& call) const
  {
    std::vector<double> shares;
    for (const Sample& s : samples(call))
      for (const record::Cpu& c : s.cell->cpu)
        if (const auto window = s.cell->window_ns != 0 ? s.cell->window_ns : window_ns(s);
            c.host == call.host && window != 0)
          shares.push_back(static_cast<double>(part_of(c, call.part)) /
                           static_cast<double>(window));
    if (shares.empty()) return unaccounted(call);
    return averaged(shares);
  }

  [[nodiscard]] Figure cpu_per_gib(const Call& call) const
  {
    std::vector<double> costs;
    for (const Sample& s : samples(call)) {
      std::uint64_t bytes = 0;
      for (const record::Flow& flow : s.cell->flows) bytes += flow.bytes;
      for (const record::Cpu& c : s.cell->cpu)
        if (c.host == call.host && bytes != 0)
          costs.push_back(static_cast<double>(part_of(c, {})) * gib / static_cast<double>(bytes));
    }
    if (costs.empty()) return unaccounted(call);
    return averaged(costs);
  }

  [[nodiscard]] Figure counter(const Call& call) const
  {
    const std::string condition = condition_of(call, record_.lab);
    bool known = false;
    std::uint64_t sum = 0;
    for (const record::Cell& cell : record_.cells) {
      const auto& names = cell.traffic;
      if (cell.condition != condition) continue;
      if (!call.traffic.empty() &&
          std::find(names.begin(), names.end(), call.traffic) == names.end())
        continue;
      for (const record::Counters& c : cell.counters) {
        if (c.host != call.host) continue;
        for (const auto* counters : {&c.rdma, &c.device}) {
          const auto found = counters->find(call.counter);
          if (found == counters->end()) continue;
          sum += found->second;
          known = true;
          break; // the RDMA device's counter hides one of the same name of the interface
        }
      }
    }
    if (!known) return missing(fmt::format("host {} has no counter {}", call.host, call.counter));
    return exactly(static_cast<double>(sum));
  }

  [[nodiscard]] Figure observed(const Call& call) const
  {
    for (const FaultResult& f : result_.faults) {
      if (f.name != call.fault || !f.observed_ppm) continue;
      const auto share = [](std::uint64_t ppm) { return static_cast<double>(ppm) / 1e6; };
      return Value{share(*f.observed_ppm), share(f.observed_low_ppm.value_or(*f.observed_ppm)),
                   share(f.observed_high_ppm.value_or(*f.observed_ppm))};
    }
    return missing(fmt::format("fault {} has no observed share", call.fault));
  }

  [[nodiscard]] Figure corrupt(const Call& call) const
  {
    const auto found = samples(call);
    if (found.empty()) return unmeasured(call);
    std::uint64_t sum = 0;
    for (const Sample& s : found) sum += s.flow->corrupt_messages;
    return exactly(static_cast<double>(sum));
  }

  [[nodiscard]] Figure completions(const Call& call) const
  {
    const auto found = samples(call);
    if (found.empty()) return unmeasured(call);
    std::uint64_t sum = 0;
    for (const Sample& s : found)
      if (const auto count = s.flow->completions.find(call.status);
          count != s.flow->completions.end())
        sum += count->second;
    return exactly(static_cast<double>(sum));
  }

  [[nodiscard]] Figure messages(const Call& call) const
  {
    const auto found = samples(call);
    if (found.empty()) return unmeasured(call);
    std::uint64_t sum = 0;
    for (const Sample& s : found) sum += s.flow->total_messages;
    return exactly(static_cast<double>(sum));
  }

  /// Setting up is over before the condition begins, so all cells tell of the same thing.
  [[nodiscard]] Figure setup(const Call& call) const
  {
    std::vector<double> times;
    for (const record::Cell& cell : record_.cells)
      for (const record::Flow& flow : cell.flows)
        if (const auto step = flow.setup_ns.find(call.step);
            flow.traffic == call.traffic && step != flow.setup_ns.end())
          times.push_back(static_cast<double>(step->second));
    if (times.empty())
      return missing(fmt::format("{} was not timed for step {}", call.traffic, call.step));
    const auto [least, most] = std::minmax_element(times.begin(), times.end());
    return Value{mean(times), *least, *most};
  }

  [[nodiscard]] Figure rule(const Call& call) const
  {
    for (const RuleResult& r : result_.rules)
      if (r.name == call.rule)
        return exactly(static_cast<double>(call.function == Function::fired ? r.fired : r.matched));
    return missing(fmt::format("rule {} was not counted", call.rule));
  }

  [[nodiscard]] Figure path(const Call& call) const
  {
    for (const TrafficPath& t : result_.path ? result_.path->traffic : std::vector<TrafficPath>{}) {
      if (t.traffic != call.traffic) continue;
      for (const HostPath& h : t.hosts) {
        if (h.host != call.host) continue;
        if (call.function == Function::syscalls) return exactly(h.syscalls_all);
        if (call.function == Function::copies) return exactly(h.copies);
        if (call.function == Function::copied) return exactly(h.copied);
        if (call.function == Function::wakeups) return exactly(h.wakeups);
        if (call.function == Function::switches) return exactly(h.switches);
        if (call.function == Function::softirqs) return exactly(h.softirqs);
        if (call.function == Function::packets) return exactly(h.packets_in + h.packets_out);
        if (const auto found = h.stage_percent.find(call.stage); found != h.stage_percent.end())
          return exactly(found->second / 100);
        return missing(fmt::format("this kernel would not let us see the stage {}", call.stage));
      }
    }
    return missing(fmt::format("{} has no path at {}", call.traffic, call.host));
  }

  [[nodiscard]] Figure fitted(const Call& call) const
  {
    for (const CostFit& f : result_.path ? result_.path->fits : std::vector<CostFit>{}) {
      if (f.host != call.host ||
          std::find(f.traffics.begin(), f.traffics.end(), call.traffic) == f.traffics.end())
        continue;
      const bool message = call.function == Function::per_message;
      const double value = message ? f.message_ns : f.byte_ns;
      const double error = message ? f.message_error : f.byte_error;
      return Value{value, value - error, value + error};
    }
    return missing(fmt::format("no three sizes of message of {} were fitted", call.traffic));
  }

  [[nodiscard]] Figure wire(const Call& call) const
  {
    for (const TrafficPath& t : result_.path ? result_.path->traffic : std::vector<TrafficPath>{})
      if (t.traffic == call.traffic && t.wire) return exactly(t.wire->min_ns);
    return missing(fmt::format("no frame of {} was timed", call.traffic));
  }

  [[nodiscard]] Error unmeasured(const Call& call) const
  {
    return missing(
        fmt::format("{} was not measured {}", call.traffic, condition_of(call, record_.lab)));
  }

  [[nodiscard]] Error unaccounted(const Call& call) const
  {
    return missing(fmt::format("no CPU of {} was accounted for {}", call.host, call.traffic));
  }

  const record::Record& record_;
  const Result& result_;
};

} // namespace

lab::Lookup figures_of(const record::Record& record, const Result& result)
{
  return Figures(record, result);
}

std::string figure_words(double value, lab::Dimension dimension)
{
  switch (dimension) {
  case lab::Dimension::rate:
    return rate_words(value);
  case lab::Dimension::time:
    return time_words(value);
  case lab::Dimension::bytes:
    return three_digits(value) + " B";
  case lab::Dimension::count:
    // A mean over repeats need not be whole.
    return std::abs(value) < 1e15 && value == std::floor(value) ? fmt::format("{:.0f}", value)
                                                                : three_digits(value);
  case lab::Dimension::number:
  case lab::Dimension::ratio:
  case lab::Dimension::any:
    break;
  }
  return three_digits(value);
}

} // namespace rdmalab::analysis
