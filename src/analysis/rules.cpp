#include "analysis/rules.h"

#include "analysis/samples.h"
#include "analysis/statistics.h"
#include "analysis/words.h"
#include "base/units.h"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::analysis {
namespace {

/// Whether the dice, `every` and `limit` leave no match out.
bool hits_all(const lab::Rule& rule)
{
  return rule.rate_ppm == 1'000'000 && rule.p_ppm == 0 && rule.every == 1 && rule.limit == 0;
}

bool faulted_with(const record::Cell& cell, const lab::Rule& rule)
{
  return cell.condition == faulted &&
         std::find(cell.traffic.begin(), cell.traffic.end(), rule.traffic) != cell.traffic.end();
}

class RuleJudge {
public:
  RuleJudge(const record::Record& record, RuleFindings& findings)
      : record_(record), findings_(findings)
  {}

  void run()
  {
    for (const lab::Rule& rule : record_.lab.rules) judge(rule);
  }

private:
  void problem(std::string text) { findings_.problems.push_back({Exit::setup, std::move(text)}); }

  void judge(const lab::Rule& rule)
  {
    RuleResult result;
    result.name = rule.name;
    result.kind = lab::kind_words(rule.kind);
    result.traffic = rule.traffic;
    result.setting = lab::rule_words(rule);
    std::size_t cells = 0;
    for (const record::Cell& cell : record_.cells) {
      if (!faulted_with(cell, rule)) continue;
      ++cells;
      const auto found = std::find_if(cell.rules.begin(), cell.rules.end(),
                                      [&](const auto& r) { return r.rule == rule.name; });
      if (found == cell.rules.end()) {
        problem(fmt::format("{}: rule {} was not in force", cell.id, rule.name));
        continue;
      }
      result.matched += found->matched;
      result.fired += found->fired;
      result.held += found->held;
    }
    if (cells != 0 && result.fired == 0 && !rule.may_miss)
      problem(fmt::format("rule {} hit nothing ({} packets matched); say may_miss: on if it need "
                          "not",
                          rule.name, count_words(result.matched)));
    if (hits_all(rule) && result.fired != result.matched)
      problem(fmt::format("rule {} should hit all of {} packets and hit {}", rule.name,
                          count_words(result.matched), count_words(result.fired)));
    share(rule, result);
    findings_.rules.push_back(std::move(result));
  }

  void share(const lab::Rule& rule, RuleResult& result)
  {
    const std::uint64_t trials = result.matched / std::max(rule.every, 1U);
    result.observed_ppm = share_ppm(result.fired, trials);
    if (rule.rate_ppm == 1'000'000 || rule.limit != 0 || rule.p_ppm != 0) return;
    result.requested_ppm = rule.rate_ppm;
    const auto interval =
        wilson_ppm(static_cast<double>(result.fired), static_cast<double>(trials));
    result.observed_low_ppm = interval.low_ppm;
    result.observed_high_ppm = interval.high_ppm;
    result.consistent = rule.rate_ppm >= interval.low_ppm && rule.rate_ppm <= interval.high_ppm;
    const auto gate = wilson_ppm(static_cast<double>(result.fired), static_cast<double>(trials),
                                 z_one_in_a_million);
    if (rule.rate_ppm < gate.low_ppm || rule.rate_ppm > gate.high_ppm)
      problem(fmt::format("rule {} was to hit {} and hit {} of {} packets", rule.name,
                          units::format_share(rule.rate_ppm), count_words(result.fired),
                          count_words(trials)));
  }

  const record::Record& record_;
  RuleFindings& findings_;
};

} // namespace

RuleFindings judge_rules(const record::Record& record)
{
  RuleFindings findings;
  if (!record.lab.rules.empty()) RuleJudge(record, findings).run();
  return findings;
}

} // namespace rdmalab::analysis
