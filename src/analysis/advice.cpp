#include "analysis/advice.h"

#include "analysis/words.h"
#include "base/json.h"

#include <algorithm>
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
  void variants()
  {
    for (const char* kind : {"tcp", "verbs"}) {
      const TrafficResult* least = nullptr;
      const TrafficResult* most = nullptr;
      for (const TrafficResult& t : result_.traffic) {
        if (t.kind != kind || cost_of(t) <= 0) continue;
        if (least == nullptr || cost_of(t) < cost_of(*least)) least = &t;
        if (most == nullptr || cost_of(t) > cost_of(*most)) most = &t;
      }
      if (least == nullptr || cost_of(*most) / cost_of(*least) < worth_saying) continue;
      give(fmt::format("Of the {} traffics here {} costs the least CPU: try such options before "
                       "another transport.",
                       kind, least->name),
           "lesson 6", fmt::format("{} against {}", cost_words(*least), cost_words(*most)));
    }
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
