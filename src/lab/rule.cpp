#include "lab/rule.h"

#include "base/json.h"
#include "base/units.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace rdmalab::lab {

RDMALAB_JSON_ENUM(RuleKind, {{RuleKind::drop, "drop"},
                             {RuleKind::delay, "delay"},
                             {RuleKind::duplicate, "duplicate"},
                             {RuleKind::reorder, "reorder"},
                             {RuleKind::corrupt, "corrupt"},
                             {RuleKind::forge, "forge"},
                             {RuleKind::mark, "mark"},
                             {RuleKind::rewrite, "rewrite"}})
RDMALAB_JSON(Span, first, last)
RDMALAB_JSON(Rule, name, kind, traffic, stream, classes, positions, opcode, numbers, transmission,
             every, rate_ppm, draw, p_ppm, r_ppm, begin_ns, end_ns, limit, may_miss, delay_ns,
             packets, offset, bytes, dscp, ttl)

namespace {

constexpr std::uint64_t open_end = std::numeric_limits<std::uint32_t>::max();

std::string span_words(const Span& span)
{
  if (span.first == span.last) return std::to_string(span.first);
  if (span.last >= open_end) return fmt::format("{}..", span.first);
  return fmt::format("{}..{}", span.first, span.last);
}

std::string ordinal(std::uint64_t number)
{
  const std::uint64_t ten = number % 10;
  const bool teen = number / 10 % 10 == 1;
  const char* suffix = teen || ten == 0 || ten > 3 ? "th"
                       : ten == 1                  ? "st"
                       : ten == 2                  ? "nd"
                                                   : "rd";
  return std::to_string(number) + suffix;
}

} // namespace

std::string rule_words(const Rule& rule)
{
  std::vector<std::string> parts;
  std::string what =
      rule.classes.empty() ? "packets" : fmt::format("{}", fmt::join(rule.classes, "/"));
  if (!rule.positions.empty()) what += fmt::format(" ({})", fmt::join(rule.positions, "/"));
  if (!rule.opcode.empty()) what = rule.opcode;
  std::vector<std::string> numbers;
  numbers.reserve(rule.numbers.size());
  for (const Span& span : rule.numbers) numbers.push_back(span_words(span));
  if (!numbers.empty()) what += fmt::format(" {}", fmt::join(numbers, ", "));
  parts.push_back(what);
  if (rule.stream) parts.push_back(fmt::format("stream {}", *rule.stream));
  if (rule.transmission.first > 1 || rule.transmission.last < open_end) {
    const Span& t = rule.transmission;
    parts.push_back(t.first == t.last ? fmt::format("sent the {} time", ordinal(t.first))
                                      : fmt::format("transmissions {}", span_words(t)));
  }
  if (rule.every > 1) parts.push_back(fmt::format("every {}", ordinal(rule.every)));
  if (rule.rate_ppm != 1'000'000) parts.push_back(units::format_share(rule.rate_ppm));
  if (rule.p_ppm != 0)
    parts.push_back(fmt::format("bursts p {} r {}", units::format_share(rule.p_ppm),
                                units::format_share(rule.r_ppm)));
  if (rule.begin_ns != 0) parts.push_back("from " + units::format_time(rule.begin_ns));
  if (rule.end_ns != std::numeric_limits<std::uint64_t>::max())
    parts.push_back("until " + units::format_time(rule.end_ns));
  if (rule.limit != 0) parts.push_back(fmt::format("{} at most", rule.limit));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string kind_words(RuleKind kind)
{
  return Json(kind).get<std::string>();
}

} // namespace rdmalab::lab
