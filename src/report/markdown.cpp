#include "report/markdown.h"

#include "analysis/claims.h"
#include "analysis/words.h"
#include "report/closing.h"
#include "report/path_table.h"
#include "report/phrases.h"
#include "report/setup_rows.h"

#include <string_view>
#include <vector>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::report {
namespace {

using analysis::Result;
using analysis::TrafficResult;
using analysis::Verdict;

/// Text that Markdown takes as it stands, also inside a table.
std::string plain(std::string_view text)
{
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\`*_|[]#~").find(c) != std::string_view::npos) out += '\\';
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out;
}

/// As code, where only the backtick and, inside a table, the bar are special.
std::string code(std::string_view text)
{
  std::string out = "`";
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '`' ? '\'' : (c == '\n' ? ' ' : c);
  }
  return out + "`";
}

std::string row(const std::vector<std::string>& cells)
{
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string mark(Verdict verdict)
{
  if (verdict == Verdict::pass) return "✅";
  return verdict == Verdict::inconclusive ? "❔" : "❌";
}

std::string throughput(const Result& result)
{
  std::string out = "\n| traffic | unfaulted | faulted | kept (95 % interval) | predicted |\n"
                    "|---|---:|---:|---:|---:|\n";
  for (const TrafficResult& t : result.traffic)
    if (shows_throughput(t))
      out += row({plain(t.name), goodput_words(t.baseline), goodput_words(t.faulted),
                  t.retention ? retention_words(*t.retention) : "-",
                  t.retention && t.retention->predicted ? percent(*t.retention->predicted) : "-"});
  return out;
}

std::string setup(const Result& result)
{
  const SetupRows table = setup_rows(result);
  if (table.rows.empty()) return {};
  std::string out = "\n" + row(table.heading) + "|---|";
  for (std::size_t i = 1; i < table.heading.size(); ++i) out += "---:|";
  out += "\n";
  for (const auto& cells : table.rows) out += row(cells);
  return out;
}

std::string program_figures(const Result& result)
{
  std::string out;
  for (const TrafficResult& t : result.traffic)
    if (!shows_throughput(t))
      out += row({plain(t.name), program_figure_words(t.figure->unit, t.figure->baseline),
                  program_figure_words(t.figure->unit, t.figure->faulted)});
  if (out.empty()) return {};
  return "\n| figure of a program | without faults | with faults |\n|---|---:|---:|\n" + out;
}

std::string expectations(const Result& result)
{
  if (result.expectations.empty()) return {};
  std::string out = "\n| | expectation | measured | |\n|---|---|---:|---|\n";
  for (const auto& e : result.expectations)
    out += row(
        {mark(e.verdict), code(e.text), e.measured.empty() ? "-" : e.measured, plain(e.reason)});
  return out;
}

std::string claims(const Result& result)
{
  if (result.claims.empty()) return {};
  std::string out = "\n| claim | where | measured | verdict |\n|---|---|---|---|\n";
  for (const analysis::ClaimResult& c : result.claims)
    out += row({plain(c.claim), plain(c.where),
                c.holds.empty() ? plain(c.because) : code(c.holds) + ": " + plain(c.measured),
                plain(claim_words(c.verdict) +
                      (c.holds.empty() || c.because.empty() ? "" : ". " + c.because))});
  return out;
}

std::string cpu(const Result& result)
{
  std::string out = fmt::format("\n| traffic | host | % of a core | {} |\n|---|---|---:|---:|\n",
                                cpu_cost_unit(result.environment));
  bool any = false;
  for (const TrafficResult& t : result.traffic)
    for (const auto& [host, c] : t.cpu) {
      any = true;
      out += row({plain(t.name), plain(host), fmt::format("{:.1f}", c.percent_of_core),
                  c.seconds_per_gib ? analysis::three_digits(*c.seconds_per_gib) : "-"});
    }
  return any ? out : std::string{};
}

/// A row of cells that are text, not Markdown.
std::string plain_row(const std::vector<std::string>& cells)
{
  std::vector<std::string> safe;
  safe.reserve(cells.size());
  for (const std::string& cell : cells) safe.push_back(plain(cell));
  return row(safe);
}

std::string paths(const Result& result)
{
  if (!result.path) return {};
  std::string out;
  for (const PathGrid& grid : path_grids(*result.path)) {
    std::string rule = "|";
    for (std::size_t i = 0; i < grid.heading.size(); ++i) rule += i < grid.words ? "---|" : "---:|";
    out += "\n" + plain_row(grid.heading) + rule + "\n";
    for (const auto& cells : grid.rows) out += plain_row(cells);
  }
  out += "\n";
  for (const std::string& sentence : path_sentences(*result.path))
    out += fmt::format("- {}\n", plain(sentence));
  return out;
}

std::string faults(const Result& result)
{
  if (result.faults.empty()) return {};
  std::string out = "\n| fault | where | asked | applied | observed | 99 % interval | packets |\n"
                    "|---|---|---:|---:|---:|---|---:|\n";
  for (const auto& f : result.faults) {
    const bool interval = f.observed_low_ppm && f.observed_high_ppm;
    out += row({plain(f.name), plain(f.where),
                f.requested_ppm ? ppm_words(f.requested_ppm) : plain(f.setting),
                ppm_words(f.applied_ppm), ppm_words(f.observed_ppm),
                interval ? fmt::format("{} … {}", ppm_words(f.observed_low_ppm),
                                       ppm_words(f.observed_high_ppm))
                         : "-",
                analysis::count_words(f.packets)});
  }
  return out;
}

std::string rules(const Result& result)
{
  if (result.rules.empty()) return {};
  std::string out = "\n| rule | does | to | of | matched | hit |\n|---|---|---|---|---:|---:|\n";
  for (const auto& r : result.rules)
    out += row({plain(r.name), plain(r.kind), plain(r.setting), plain(r.traffic),
                analysis::count_words(r.matched), analysis::count_words(r.fired)});
  return out;
}

std::string details(const Result& result)
{
  std::string out = fmt::format("\n<details><summary>Where and how</summary>\n\n- {}\n",
                                plain(environment_words(result.environment)));
  if (result.timing.wall_seconds > 0)
    out += fmt::format("- {}\n", plain(timing_words(result.timing)));
  out += fmt::format("- record {}\n", code(result.record_digest));
  for (const TrafficResult& t : result.traffic)
    if (t.limit)
      out += fmt::format("- {} unfaulted is held back by {}\n", plain(t.name),
                         plain(limit_words(*t.limit)));
  for (const std::string& note : result.notes) out += fmt::format("- {}\n", plain(note));
  return out + "\n</details>\n";
}

} // namespace

std::string markdown(const Result& result)
{
  std::string out = fmt::format("### {} {}: {}\n\n{}\n", mark(result.verdict), plain(result.lab),
                                verdict_word(result.verdict), plain(closing_paragraph(result)));
  if (!result.hypothesis.empty()) out += fmt::format("\n> {}\n", plain(result.hypothesis));
  if (!result.problems.empty()) {
    out += "\n**This run proves nothing:**\n\n";
    for (const std::string& problem : result.problems) out += fmt::format("- {}\n", plain(problem));
  }
  return out + throughput(result) + program_figures(result) + setup(result) + expectations(result) +
         claims(result) + cpu(result) + paths(result) + faults(result) + rules(result) +
         details(result);
}

} // namespace rdmalab::report
