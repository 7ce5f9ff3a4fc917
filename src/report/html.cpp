#include "report/html.h"

#include "analysis/claims.h"
#include "analysis/words.h"
#include "report/closing.h"
#include "report/phrases.h"
#include "report/setup_rows.h"
#include "report/xml.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::report {
namespace {

using analysis::Result;
using analysis::TrafficResult;

constexpr std::string_view css = R"(
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f24; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid #d8dee4; }
.closing { font-size: 1.25rem; }
.pass { color: #1a7f37; } .fail, .invalid { color: #b42318; } .inconclusive { color: #9a6700; }
small, .notes { color: #57606a; }
svg text { font: 14px system-ui, sans-serif; }
)";

std::string table(const std::vector<std::string>& headings,
                  const std::vector<std::vector<std::string>>& rows)
{
  if (rows.empty()) return {};
  std::string out = "<table>\n<tr>";
  for (const std::string& h : headings) out += fmt::format("<th>{}</th>", xml_text(h));
  out += "</tr>\n";
  for (const auto& row : rows) {
    out += "<tr>";
    for (const std::string& cell : row) out += fmt::format("<td>{}</td>", xml_text(cell));
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

/// A bar per traffic: its retention, the interval as a whisker, the prediction as a dashed line.
std::string chart(const Result& result)
{
  constexpr double left = 140;
  constexpr double full = 480; // 100 %
  constexpr double step = 46;
  std::string bars;
  double y = 10;
  for (const TrafficResult& t : result.traffic) {
    if (!t.retention) continue;
    const auto x = [&](double share) { return left + full * std::clamp(share, 0.0, 1.1); };
    const double middle = y + 14;
    bars += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", left - 10,
                        middle + 5, xml_text(t.name));
    bars += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"28\" fill=\"#eaeef2\"/>\n",
                        left, y, full);
    bars +=
        fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"28\" fill=\"#0969da\"/>\n",
                    left, y, x(t.retention->value) - left);
    if (t.retention->low && t.retention->high)
      bars +=
          fmt::format("<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{}\" y2=\"{}\" stroke=\"#1b1f24\" "
                      "stroke-width=\"2\"/>\n",
                      x(*t.retention->low), x(*t.retention->high), middle, middle);
    if (t.retention->predicted)
      bars += fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\" "
                          "stroke=\"#bc4c00\" stroke-width=\"2\" stroke-dasharray=\"4 3\"/>\n",
                          x(*t.retention->predicted), y - 3, y + 31);
    bars += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", left + full * 1.1 + 10, middle + 5,
                        xml_text(retention_words(*t.retention)));
    y += step;
  }
  if (bars.empty()) return {};
  return fmt::format(
      "<svg viewBox=\"0 0 860 {}\" role=\"img\" aria-label=\"retention\">\n{}</svg>\n"
      "<p><small>Share of the unfaulted goodput that is left; black: 95 % interval, "
      "dashed: predicted.</small></p>\n",
      y, bars);
}

std::string throughput(const Result& result)
{
  std::vector<std::vector<std::string>> rows;
  for (const TrafficResult& t : result.traffic)
    if (shows_throughput(t))
      rows.push_back(
          {t.name, goodput_words(t.baseline), goodput_words(t.faulted),
           t.retention ? retention_words(*t.retention) : "-",
           t.retention && t.retention->predicted ? percent(*t.retention->predicted) : "-",
           t.limit ? limit_words(*t.limit) : "-"});
  return table({"traffic", "unfaulted", "faulted", "kept", "predicted", "unfaulted limit"}, rows);
}

std::string program_figures(const Result& result)
{
  std::vector<std::vector<std::string>> rows;
  for (const TrafficResult& t : result.traffic)
    if (!shows_throughput(t))
      rows.push_back({t.name, program_figure_words(t.figure->unit, t.figure->baseline),
                      program_figure_words(t.figure->unit, t.figure->faulted)});
  return table({"program", "without faults", "with faults"}, rows);
}

std::string cpu(const Result& result)
{
  std::vector<std::vector<std::string>> rows;
  const auto ms = [](std::uint64_t ns) {
    return fmt::format("{:.1f}", static_cast<double>(ns) / 1e6);
  };
  for (const TrafficResult& t : result.traffic)
    for (const auto& [host, c] : t.cpu)
      rows.push_back({t.name, host, ms(c.app_user_ns), ms(c.app_system_ns), ms(c.rxe_ns),
                      ms(c.softirq_ns), fmt::format("{:.1f}", c.percent_of_core),
                      c.seconds_per_gib ? analysis::three_digits(*c.seconds_per_gib) : "-"});
  const std::string unit = result.environment.clock == "virtual" ? "Minstr" : "ms";
  return table({"traffic", "host", "app user, " + unit, "app system", "rxe", "softirq",
                "% of a core", cpu_cost_unit(result.environment)},
               rows);
}

std::string faults(const Result& result)
{
  std::vector<std::vector<std::string>> rows;
  for (const auto& f : result.faults)
    rows.push_back(
        {f.name, f.kind, f.where, f.requested_ppm ? ppm_words(f.requested_ppm) : f.setting,
         ppm_words(f.applied_ppm), ppm_words(f.observed_ppm),
         f.observed_low_ppm
             ? fmt::format("{} … {}", ppm_words(f.observed_low_ppm), ppm_words(f.observed_high_ppm))
             : "-",
         analysis::count_words(f.packets), f.consistent ? "✔" : "✘"});
  return table(
      {"fault", "kind", "where", "asked", "applied", "observed", "99 % interval", "packets", ""},
      rows);
}

std::string rules(const Result& result)
{
  std::vector<std::vector<std::string>> rows;
  for (const auto& r : result.rules)
    rows.push_back({r.name, r.kind, r.setting, r.traffic, analysis::count_words(r.matched),
                    analysis::count_words(r.fired), r.consistent ? "✔" : "✘"});
  return table({"rule", "does", "to", "of", "matched", "hit", ""}, rows);
}

std::string expectations(const Result& result)
{
  std::string rows;
  for (const auto& e : result.expectations)
    rows += fmt::format("<tr><td class=\"{0}\">{0}</td><td><code>{1}</code></td><td>{2}</td>"
                        "<td>{3}</td></tr>\n",
                        verdict_word(e.verdict), xml_text(e.text),
                        e.measured.empty() ? "-" : e.measured, xml_text(e.reason));
  if (rows.empty()) return {};
  return "<h2>Expected</h2>\n<table>\n<tr><th></th><th>expectation</th><th>measured</th><th></th>"
         "</tr>\n" +
         rows + "</table>\n";
}

std::string claims(const Result& result)
{
  std::vector<std::vector<std::string>> rows;
  for (const analysis::ClaimResult& c : result.claims)
    rows.push_back({c.claim, c.where, c.holds.empty() ? "-" : c.holds + ": " + c.measured,
                    analysis::claim_words(c.verdict), c.because});
  return rows.empty() ? std::string{} : table({"claim", "where", "measured", "verdict", ""}, rows);
}

std::string list(const std::vector<std::string>& items, std::string_view css_class)
{
  if (items.empty()) return {};
  std::string out = fmt::format("<ul class=\"{}\">\n", css_class);
  for (const std::string& item : items) out += fmt::format("<li>{}</li>\n", xml_text(item));
  return out + "</ul>\n";
}

std::string section(std::string_view heading, const std::string& content)
{
  return content.empty() ? std::string{} : fmt::format("<h2>{}</h2>\n{}", heading, content);
}

} // namespace

std::string html(const Result& result)
{
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{0}: "
      "{1}</title>"
      "\n<style>{2}</style>\n</head>\n<body>\n<h1>{0} <span class=\"{1}\">{1}</span></h1>\n",
      xml_text(result.lab), verdict_word(result.verdict), css);
  if (!result.hypothesis.empty()) out += fmt::format("<p>{}</p>\n", xml_text(result.hypothesis));
  out += fmt::format("<p class=\"closing\">{}</p>\n", xml_text(closing_paragraph(result)));
  out += list(result.problems, "invalid");
  out += chart(result);
  out += section("Throughput", throughput(result));
  out += section("Figures of programs", program_figures(result));
  out += section("CPU within the window", cpu(result));
  if (const SetupRows setup = setup_rows(result); !setup.rows.empty())
    out += section("Setting up", table(setup.heading, setup.rows));
  out += section("Faults", faults(result));
  if (!result.rules.empty()) out += section("Rules", rules(result));
  out += expectations(result);
  out += section("Claims", claims(result));
  out +=
      fmt::format("<h2>Where and how</h2>\n<p>{}<br><small>record {}</small></p>\n",
                  xml_text(environment_words(result.environment)), xml_text(result.record_digest));
  return out + list(result.notes, "notes") + "</body>\n</html>\n";
}

} // namespace rdmalab::report
