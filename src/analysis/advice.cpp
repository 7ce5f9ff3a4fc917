#include "analysis/advice.h"

#include "analysis/words.h"
#include "base/json.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace rdmalab::analysis {

RDMALAB_JSON(Advice, advice, where, why)

namespace {

/// Below this a traffic suffers, above that it bears the fault.
constexpr double suffers = 0.5;
constexpr double bears_it = 0.9;
/// A difference that is worth a sentence.
constexpr double worth_saying = 1.1;

std::string kept_words(const TrafficResult& t)
{
  return fmt::format("{} kept {}", t.name, percent_words(t.retention->value));
}

std::string faults_words(const Result& result)
{
  std::vector<std::string> parts;
  for (const FaultResult& f : result.faults)
    parts.push_back(fmt::format("{} of {} ({})", f.kind, f.setting, f.where));
  for (const RuleResult& r : result.rules)
    parts.push_back(fmt::format("{} of {} packets of {}", r.kind, r.fired, r.traffic));
  return fmt::format("{}", fmt::join(parts, " and "));
}

/// Options that change no code, or a line of it.
struct CheapOption {
  std::string_view key; ///< of TrafficResult::options
  std::string_view name;
};
constexpr std::array cheap_options{
    CheapOption{"depth", "More messages in flight (depth)"},
    CheapOption{"qps", "More queue pairs"},
    CheapOption{"streams", "More streams"},
    CheapOption{"signal_every", "A completion for so many messages (signal_every)"},
    CheapOption{"nodelay", "TCP_NODELAY"},
    CheapOption{"zerocopy", "MSG_ZEROCOPY"},
    CheapOption{"path_mtu", "Another MTU (path_mtu)"}};

std::string option_of(const TrafficResult& t, const std::string& key)
{
  const auto found = t.options.find(key);
  return found == t.options.end() ? std::string{} : found->second;
}

/// The cheap option that is all in which two traffics differ.
const CheapOption* difference_of(const TrafficResult& a, const TrafficResult& b)
{
  if (a.kind != b.kind || a.from != b.from || a.to != b.to || a.message_bytes != b.message_bytes ||
      a.options == b.options)
    return nullptr;
  for (const CheapOption& option : cheap_options) {
    auto mine = a.options;
    auto theirs = b.options;
    mine.erase(std::string(option.key));
    theirs.erase(std::string(option.key));
    if (mine == theirs) return &option;
  }
  return nullptr;
}

class Adviser {
public:
  explicit Adviser(const Result& result) : result_(result) {}

  std::vector<Advice> all()
  {
    loss();
    timers();
    limits();
    latency();
    cpu();
    variants();
    options();
    return std::move(given_);
  }

private:
  void give(std::string advice, std::string where, std::string why)
  {
    given_.push_back({std::move(advice), std::move(where), std::move(why)});
  }

  void loss()
  {
    const std::string fault = faults_words(result_);
    const TrafficResult* bearer = nullptr;
    for (const TrafficResult& t : result_.traffic)
      if (t.kind == "tcp" && t.retention && t.retention->value >= bears_it) bearer = &t;
    for (const TrafficResult& t : result_.traffic) {
      if (t.kind != "verbs" || !t.retention) continue;
      std::string why = fmt::format("with {} {}", fault, kept_words(t));
      if (bearer != nullptr) why += fmt::format(", {}", kept_words(*bearer));
      if (t.retention->value < suffers)
        give(fmt::format("Give {} a network that loses next to nothing, or don't use RoCE there.",
                         t.name),
             "lesson 5", why);
      else if (t.retention->value >= bears_it)
        give(fmt::format("{} bears this fault.", t.name), "lesson 5", why);
      else
        give(fmt::format("{} works under this fault, at a price: lose less, or expect less of it.",
                         t.name),
             "lesson 5", why);
    }
  }

  void timers()
  {
    constexpr std::uint32_t much_ppm = 250'000;
    std::vector<std::string> said;
    for (const CellRecovery& cell : result_.recovery)
      for (const TrafficTime& time : cell.report.time) {
        if (time.timer_wait.ppm < much_ppm || std::ranges::find(said, time.traffic) != said.end())
          continue;
        said.push_back(time.traffic);
        give(fmt::format("A shorter ACK timeout would give {} back most of what it waits for.",
                         time.traffic),
             "lesson 5",
             fmt::format("in {} it spent {} of its window waiting for its timer", cell.cell,
                         percent_words(time.timer_wait.ppm / 1e6)));
      }
  }

  void limits()
  {
    for (const TrafficResult& t : result_.traffic) {
      if (!t.limit || !t.baseline) continue;
      const std::string rate = rate_words(static_cast<double>(t.baseline->goodput_bps));
      if (t.limit->by == "window")
        give(fmt::format("Let {} have more in flight (depth, queue pairs, streams) first.", t.name),
             "lesson 6", fmt::format("without faults its window holds it back, at {}", rate));
      else if (t.limit->by == "core")
        give(fmt::format("Give {} a bigger MTU or bigger messages before anything dearer.", t.name),
             "lesson 6", fmt::format("without faults the core holds it back, at {}", rate));
    }
  }

  /// Each verbs traffic with the first TCP traffic that can be held against it: messages of the
  /// same size, and, for latencies, as many of them in flight.
  template <typename Say> void pairs(bool same_depth, Say say)
  {
    for (const TrafficResult& v : result_.traffic) {
      if (v.kind != "verbs") continue;
      const auto fits = [&](const TrafficResult& t) {
        return t.kind == "tcp" && v.message_bytes == t.message_bytes &&
               (!same_depth || v.in_flight == t.in_flight);
      };
      const auto t = std::ranges::find_if(result_.traffic, fits);
      if (t != result_.traffic.end()) say(v, *t);
    }
  }

  void latency()
  {
    pairs(true, [&](const TrafficResult& v, const TrafficResult& t) {
      if (!v.baseline || !t.baseline || !v.baseline->latency || !t.baseline->latency) return;
      const auto mine = static_cast<double>(v.baseline->latency->median_ns);
      const auto theirs = static_cast<double>(t.baseline->latency->median_ns);
      if (mine <= 0 || theirs <= 0) return;
      const std::string why =
          fmt::format("median of a message of {} bytes: {} {}, {} {}", v.message_bytes, v.name,
                      time_words(mine), t.name, time_words(theirs));
      if (theirs / mine >= worth_saying)
        give(fmt::format("{} wins on latency at this size.", v.name), "lesson 6", why);
      else if (mine / theirs >= worth_saying)
        give(fmt::format("{} does not pay in latency at this size.", v.name), "lesson 6", why);
    });
  }

  static double cost_of(const TrafficResult& t)
  {
    double sum = 0;
    for (const auto& [host, cpu] : t.cpu_baseline) sum += cpu.seconds_per_gib.value_or(0);
    return sum;
  }

  static double rxe_share_of(const TrafficResult& t)
  {
    double rxe = 0;
    double all = 0;
    for (const auto& [host, cpu] : t.cpu_baseline) {
      rxe += static_cast<double>(cpu.rxe_ns);
      all += static_cast<double>(cpu.app_user_ns + cpu.app_system_ns + cpu.rxe_ns + cpu.softirq_ns);
    }
    return all > 0 ? rxe / all : 0;
  }

  [[nodiscard]] std::string cost_words(const TrafficResult& t) const
  {
    const char* unit = result_.environment.clock == "virtual" ? "Ginstr/GiB" : "CPU-s/GiB";
    return fmt::format("{} {} {}", t.name, three_digits(cost_of(t)), unit);
  }

  void cpu()
  {
    bool said = false; // once is enough
    pairs(false, [&](const TrafficResult& v, const TrafficResult& t) {
      const double mine = cost_of(v);
      const double theirs = cost_of(t);
      if (mine <= 0 || theirs <= 0) return;
      const std::string why =
          fmt::format("{} against {}, all hosts and the fabric; {} of {}'s is rxe's work items",
                      cost_words(v), cost_words(t), percent_words(rxe_share_of(v)), v.name);
      if (mine / theirs >= worth_saying && !std::exchange(said, true))
        give("In software RDMA saves no CPU: rxe does what a NIC's chip would do. Judge the CPU it "
             "would save by what is left without rxe.",
             "lesson 2", why);
      else if (theirs / mine >= worth_saying)
        give(fmt::format("{} saves CPU, even in software.", v.name), "lesson 6", why);
    });
  }

  /// Of several variants of one transport, the one that costs least: the cheap options first.
  /// Of the traffics of a kind that carry the same messages between the same hosts.
  void variants()
  {
    std::vector<const TrafficResult*> seen;
    for (const TrafficResult& first : result_.traffic) {
      const auto alike = [&](const TrafficResult* t) {
        return t->kind == first.kind && t->message_bytes == first.message_bytes &&
               t->from == first.from && t->to == first.to;
      };
      if (first.kind == "command" || cost_of(first) <= 0 || std::ranges::any_of(seen, alike))
        continue;
      seen.push_back(&first);
      std::vector<const TrafficResult*> group;
      for (const TrafficResult& t : result_.traffic)
        if (alike(&t) && cost_of(t) > 0) group.push_back(&t);
      const auto [least, most] =
          std::ranges::minmax(group, {}, [](const TrafficResult* t) { return cost_of(*t); });
      if (cost_of(*most) / cost_of(*least) < worth_saying) continue;
      give(fmt::format("Of the {} traffics of {} bytes {} costs the least CPU: try such options "
                       "before another transport.",
                       first.kind, first.message_bytes, least->name),
           "lesson 6", fmt::format("{} against {}", cost_words(*least), cost_words(*most)));
    }
  }

  /// Each cheap option that two traffics differ in: what it gains, and what it costs.
  void options()
  {
    for (std::size_t i = 0; i < result_.traffic.size(); ++i)
      for (std::size_t j = i + 1; j < result_.traffic.size(); ++j)
        if (const CheapOption* option = difference_of(result_.traffic[i], result_.traffic[j]))
          weigh(*option, result_.traffic[i], result_.traffic[j]);
  }

  /// `with` is the traffic that has more of the option.
  void weigh(const CheapOption& option, const TrafficResult& a, const TrafficResult& b)
  {
    const std::string key(option.key);
    const auto more = [](const std::string& x, const std::string& y) {
      return x.size() != y.size() ? x.size() > y.size() : x > y;
    };
    const bool first = more(option_of(a, key), option_of(b, key));
    const TrafficResult& with = first ? a : b;
    const TrafficResult& without = first ? b : a;
    if (!with.baseline || !without.baseline) return;

    std::vector<std::string> better;
    std::vector<std::string> worse;
    const auto compare = [&](double before, double after, bool less_is_better, std::string text) {
      if (before <= 0 || after <= 0) return;
      const double gain = less_is_better ? before / after : after / before;
      if (gain >= worth_saying)
        better.push_back(std::move(text));
      else if (gain <= 1 / worth_saying)
        worse.push_back(std::move(text));
    };
    const auto rate = [](const TrafficResult& t) {
      return static_cast<double>(t.baseline->goodput_bps);
    };
    const auto median = [](const TrafficResult& t) {
      return t.baseline->latency ? static_cast<double>(t.baseline->latency->median_ns) : 0;
    };
    compare(rate(without), rate(with), false,
            fmt::format("throughput {} → {}", rate_words(rate(without)), rate_words(rate(with))));
    compare(median(without), median(with), true,
            fmt::format("median latency {} → {}", time_words(median(without)),
                        time_words(median(with))));
    compare(cost_of(without), cost_of(with), true,
            fmt::format("CPU {} → {}", cost_words(without), cost_words(with)));

    const std::string pair = fmt::format("from {} to {}", without.name, with.name);
    if (better.empty() && worse.empty())
      give(fmt::format("{} changes nothing here.", option.name), "lesson 6",
           pair + " throughput, latency and CPU differ by less than a tenth");
    else if (better.empty())
      give(fmt::format("{} does not pay here.", option.name), "lesson 6",
           fmt::format("{}: {}", pair, fmt::join(worse, ", ")));
    else if (worse.empty())
      give(fmt::format("{} is a cheap gain here.", option.name), "lesson 6",
           fmt::format("{}: {}", pair, fmt::join(better, ", ")));
    else
      give(fmt::format("{} gains here, and costs.", option.name), "lesson 6",
           fmt::format("{}: {}; against it {}", pair, fmt::join(better, ", "),
                       fmt::join(worse, ", ")));
  }

  const Result& result_;
  std::vector<Advice> given_;
};

} // namespace

std::vector<Advice> advise(const Result& result)
{
  if (!result.problems.empty()) return {};
  return Adviser(result).all();
}

} // namespace rdmalab::analysis
