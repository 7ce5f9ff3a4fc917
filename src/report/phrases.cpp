#include "report/phrases.h"

#include "analysis/words.h"

#include <cmath>
#include <vector>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::report {

std::string verdict_word(analysis::Verdict verdict)
{
  switch (verdict) {
  case analysis::Verdict::pass:
    return "pass";
  case analysis::Verdict::fail:
    return "fail";
  case analysis::Verdict::inconclusive:
    return "inconclusive";
  case analysis::Verdict::invalid:
    break;
  }
  return "invalid";
}

std::string percent(double share)
{
  // Whole percents where these say enough; not where 99.7 would read as 100.
  if (share >= 0.0995 && share < 0.995) return fmt::format("{:.0f} %", share * 100);
  return analysis::percent_words(share);
}

std::string retention_words(const analysis::Retention& retention)
{
  std::string text = analysis::percent_words(retention.value);
  if (retention.low && retention.high)
    text += fmt::format(" ({} … {} %)", analysis::three_digits(*retention.low * 100),
                        analysis::three_digits(*retention.high * 100));
  return text;
}

std::string goodput_words(const std::optional<analysis::ConditionResult>& condition)
{
  return condition ? analysis::rate_words(static_cast<double>(condition->goodput_bps)) : "-";
}

std::string program_figure_words(const std::string& unit,
                                 const std::optional<analysis::FigureResult>& figure)
{
  if (!figure) return "-";
  const auto words = [&](double value) {
    if (unit == "ns") return analysis::time_words(value);
    if (unit == "bit/s") return analysis::rate_words(value);
    // A mean over repeats need not be whole.
    return value == std::floor(value) ? analysis::count_words(static_cast<std::uint64_t>(value))
                                      : analysis::three_digits(value);
  };
  std::string text = words(figure->value);
  if (figure->low && figure->high)
    text += fmt::format(" ({} … {})", words(*figure->low), words(*figure->high));
  return text;
}

bool shows_throughput(const analysis::TrafficResult& traffic)
{
  return !traffic.figure || traffic.figure->unit == "bit/s";
}

std::string ppm_words(std::optional<std::uint64_t> ppm)
{
  if (!ppm) return "-";
  const double value = static_cast<double>(*ppm) / 1e4;
  std::string text = fmt::format("{:.4f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " %";
}

std::string limit_words(const analysis::Limit& limit)
{
  std::string text = limit.by == "unknown" ? "nothing that rdmalab knows" : "the " + limit.by;
  std::vector<std::string> facts;
  if (limit.link_share)
    facts.push_back(fmt::format("{} of the link's payload rate, {}", percent(*limit.link_share),
                                analysis::rate_words(static_cast<double>(limit.link_payload_bps))));
  if (limit.core_busy) facts.push_back(fmt::format("core {} busy", percent(*limit.core_busy)));
  if (limit.window_bps && limit.by != "link")
    facts.push_back(fmt::format("window allows {}",
                                analysis::rate_words(static_cast<double>(*limit.window_bps))));
  return facts.empty() ? text : fmt::format("{}: {}", text, fmt::join(facts, ", "));
}

std::string environment_words(const record::Environment& e)
{
  std::string text = fmt::format("{} engine, {} clock", e.engine, e.clock);
  if (!e.accelerator.empty() && e.accelerator != "none") text += ", " + e.accelerator;
  if (!e.kernel.empty()) text += ", kernel " + e.kernel;
  if (!e.qemu.empty()) text += ", QEMU " + e.qemu;
  if (!e.rdmalab.empty()) text += ", rdmalab " + e.rdmalab;
  return text;
}

std::string timing_words(const record::Timing& timing)
{
  std::string text = fmt::format("{:.1f} s", timing.wall_seconds);
  if (timing.first_packet_seconds > 0)
    text += fmt::format(", first packet after {:.1f} s", timing.first_packet_seconds);
  return text;
}

std::string cpu_cost_unit(const record::Environment& environment)
{
  return environment.clock == "virtual" ? "Ginstr/GiB" : "CPU-s/GiB";
}

} // namespace rdmalab::report
