#include "analysis/endings.h"

#include "lab/mistake.h"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::analysis {

namespace {

void add_once(std::vector<std::string>& words, std::string word)
{
  if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(std::move(word));
}

} // namespace

std::string expected_end(const lab::Lab& lab, const lab::Traffic& traffic,
                         std::string_view condition)
{
  const bool applies = condition == faulted || lab.faultless() || goes_wrong_alone(traffic);
  return applies ? traffic.ends : "ok";
}

bool ended(const record::Flow& flow, const std::string& how)
{
  if (how == "ok") return flow.outcome == "ok";
  return flow.outcome != "ok" && (flow.failed_step == how || flow.failure == how);
}

std::string unexpected_words(const record::Flow& flow, const std::string& expected)
{
  if (expected == "ok") return flow.outcome;
  return fmt::format("it was to end with {}, and ended with {}", expected, flow.outcome);
}

std::vector<std::string> broken_flows(const record::Record& record, const lab::Traffic& traffic)
{
  std::vector<std::string> outcomes;
  const std::string expected = expected_end(record.lab, traffic, faulted);
  for (const Sample& s : samples_of(record, traffic.name, faulted))
    if (!ended(*s.flow, expected)) add_once(outcomes, unexpected_words(*s.flow, expected));
  return outcomes;
}

std::vector<std::string> foreseen_ends(const record::Record& record, const lab::Traffic& traffic)
{
  std::vector<std::string> outcomes;
  for (const std::string_view condition : {baseline, faulted}) {
    const std::string expected = expected_end(record.lab, traffic, condition);
    if (expected == "ok") continue;
    for (const Sample& s : samples_of(record, traffic.name, condition))
      if (ended(*s.flow, expected)) add_once(outcomes, s.flow->outcome);
  }
  return outcomes;
}

} // namespace rdmalab::analysis
