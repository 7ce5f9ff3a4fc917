#include "report/closing.h"

#include "analysis/words.h"
#include "report/phrases.h"
#include "report/text.h"

#include <algorithm>
#include <vector>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::report {
namespace {

using analysis::ClaimVerdict;
using analysis::Result;
using analysis::TrafficResult;

/// So many figures can be read in a sentence; of more, the least and the greatest.
constexpr std::size_t most_listed = 6;

std::string fault_words(const analysis::FaultResult& fault)
{
  return fmt::format("{} of {} ({})", fault.kind, fault.setting, fault.where);
}

/// "a", "a and b", "a, b and c".
std::string listed(const std::vector<std::string>& items)
{
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i != 0) text += i + 1 == items.size() ? " and " : ", ";
    text += items[i];
  }
  return text;
}

struct Named {
  std::string name;
  double value;
};

std::pair<Named, Named> extremes(const std::vector<Named>& figures)
{
  return {*std::ranges::min_element(figures, {}, &Named::value),
          *std::ranges::max_element(figures, {}, &Named::value)};
}

std::string kept(const Result& result, const std::vector<Named>& figures)
{
  std::vector<std::string> faults;
  for (const analysis::FaultResult& f : result.faults) faults.push_back(fault_words(f));
  for (const analysis::RuleResult& r : result.rules)
    faults.push_back(fmt::format("{} of {} ({})", r.kind, r.traffic, r.setting));
  const std::string with = faults.empty() ? "the faults" : listed(faults);
  if (figures.size() > most_listed) {
    const auto [least, most] = extremes(figures);
    return fmt::format("With {} {} traffics kept between {} ({}) and {} ({}) of their throughput.",
                       with, figures.size(), percent(least.value), least.name, percent(most.value),
                       most.name);
  }
  std::vector<std::string> words;
  words.reserve(figures.size());
  for (const Named& f : figures)
    words.push_back(words.empty()
                        ? fmt::format("{} kept {} of its throughput", f.name, percent(f.value))
                        : fmt::format("{} {}", f.name, percent(f.value)));
  return fmt::format("With {} {}.", with, listed(words));
}

std::string delivered(const std::vector<Named>& figures)
{
  if (figures.size() > most_listed) {
    const auto [least, most] = extremes(figures);
    return fmt::format("Without faults {} traffics delivered between {} ({}) and {} ({}).",
                       figures.size(), analysis::rate_words(least.value), least.name,
                       analysis::rate_words(most.value), most.name);
  }
  std::vector<std::string> words;
  words.reserve(figures.size());
  for (const Named& f : figures)
    words.push_back(fmt::format("{}{} {}", f.name, words.empty() ? " delivered" : "",
                                analysis::rate_words(f.value)));
  return fmt::format("Without faults {}.", listed(words));
}

std::vector<std::string> throughput_sentences(const Result& result)
{
  std::vector<Named> retained;
  std::vector<Named> carried;
  std::size_t failed = 0;
  for (const TrafficResult& t : result.traffic) {
    const double bps = t.baseline ? static_cast<double>(t.baseline->goodput_bps) : 0;
    if (!t.ended.empty())
      ++failed;
    else if (t.retention)
      retained.push_back({t.name, t.retention->value});
    else if (bps > 0)
      carried.push_back({t.name, bps});
  }
  std::vector<std::string> sentences;
  if (!retained.empty())
    sentences.push_back(kept(result, retained));
  else if (!carried.empty())
    sentences.push_back(delivered(carried));
  if (failed != 0)
    sentences.push_back(
        fmt::format("{} failed, as the lab expects.",
                    failed == 1 ? "One traffic" : fmt::format("{} traffics", failed)));
  return sentences;
}

/// "A message over tcp costs the client 3.71 us, and 2.36 us more a KiB: from 1.57 KiB on its bytes
/// outweigh it."
std::vector<std::string> cost_sentences(const Result& result)
{
  std::vector<std::string> sentences;
  if (!result.path) return sentences;
  for (const analysis::CostFit& f : result.path->fits) {
    if (f.message_ns <= 0 || f.byte_ns <= 0) continue;
    sentences.push_back(fmt::format("A message over {} costs the {} {}, and {} more a KiB: from {} "
                                    "KiB on its bytes outweigh it.",
                                    f.transport, f.host, analysis::time_words(f.message_ns),
                                    analysis::time_words(1024 * f.byte_ns),
                                    analysis::three_digits(f.message_ns / f.byte_ns / 1024)));
  }
  return sentences;
}

std::optional<std::string> claims_sentence(const Result& result)
{
  if (result.claims.empty()) return std::nullopt;
  const auto share = [&](ClaimVerdict verdict, const char* words) {
    const auto count = std::ranges::count(result.claims, verdict, &analysis::ClaimResult::verdict);
    return count == 0 ? std::string() : fmt::format("{} {}", count, words);
  };
  std::vector<std::string> parts{share(ClaimVerdict::confirmed, "confirmed"),
                                 share(ClaimVerdict::contradicted, "contradicted"),
                                 share(ClaimVerdict::open, "left open"),
                                 share(ClaimVerdict::unmeasured, "not to be measured here")};
  std::erase(parts, std::string());
  return fmt::format("Of {} claims of the course held against this, {}.", result.claims.size(),
                     listed(parts));
}

} // namespace

std::string closing_paragraph(const Result& result)
{
  if (!result.problems.empty())
    return "Nothing can be concluded: the run could not prove what it measured.";
  std::vector<std::string> sentences = throughput_sentences(result);
  // A lab's own words say what it is about better than these.
  const auto& rest = result.conclusion.empty() ? cost_sentences(result) : result.conclusion;
  sentences.insert(sentences.end(), rest.begin(), rest.end());
  if (auto sentence = claims_sentence(result)) sentences.push_back(std::move(*sentence));
  if (sentences.empty()) return "Nothing was measured.";
  return fmt::format("{}", fmt::join(sentences, " "));
}

} // namespace rdmalab::report
