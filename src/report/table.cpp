#include "report/table.h"

#include "analysis/claims.h"
#include "analysis/words.h"
#include "report/closing.h"
#include "report/events_table.h"
#include "report/grid.h"
#include "report/path_table.h"
#include "report/phrases.h"
#include "report/recovery_table.h"
#include "report/setup_rows.h"
#include "report/text.h"

#include <algorithm>
#include <cctype>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::report {
namespace {

using analysis::ConditionResult;
using analysis::CpuResult;
using analysis::ExpectationResult;
using analysis::FaultResult;
using analysis::Result;
using analysis::TrafficResult;
using analysis::Verdict;

Tone tone_of(Verdict verdict)
{
  if (verdict == Verdict::pass) return Tone::good;
  return verdict == Verdict::inconclusive ? Tone::doubtful : Tone::bad;
}

std::string mark_of(Verdict verdict)
{
  if (verdict == Verdict::pass) return "✔";
  return verdict == Verdict::inconclusive ? "?" : "✘";
}

std::string upper(std::string text)
{
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

class Page {
public:
  Page(const Result& result, const Style& style) : result_(result), style_(style) {}

  std::string text()
  {
    head();
    throughput();
    figures();
    endings();
    cpu();
    if (result_.path) out_ += path_table(*result_.path, style_);
    faults();
    rules();
    recoveries();
    limits();
    latencies();
    setup();
    expectations();
    claims();
    foot();
    return std::move(out_);
  }

private:
  void line(std::string_view text, Tone tone = Tone::plain)
  {
    const std::string plain = style_.utf8 ? std::string(text) : to_ascii(text);
    out_ += paint(style_, tone, plain) + "\n";
  }

  /// Text over as many lines as it takes; all but the first are indented.
  void paragraph(std::string_view text, Tone tone = Tone::plain, std::string_view first = "",
                 std::size_t indent = 0)
  {
    const std::string plain = style_.utf8 ? std::string(text) : to_ascii(text);
    const std::string margin(indent, ' ');
    bool started = false;
    for (const std::string& part : wrap(plain, style_.width - indent)) {
      line((started ? margin : std::string(first)) + part, tone);
      started = true;
    }
  }

  void section(const Grid& grid)
  {
    if (grid.empty()) return;
    out_ += "\n" + grid.text(style_);
  }

  void head()
  {
    const std::string verdict = upper(verdict_word(result_.verdict));
    line(fmt::format("{}  {} {}", result_.lab, mark_of(result_.verdict), verdict),
         tone_of(result_.verdict));
    if (!result_.hypothesis.empty()) paragraph(result_.hypothesis, Tone::faint);
    if (result_.problems.empty()) return;
    line("");
    line("This run proves nothing:", Tone::bad);
    constexpr std::size_t most = 12;
    for (std::size_t i = 0; i < std::min(most, result_.problems.size()); ++i)
      paragraph(result_.problems[i], Tone::bad, "  - ", 4);
    if (result_.problems.size() > most)
      line(fmt::format("  - and {} more", result_.problems.size() - most), Tone::bad);
    paragraph("The figures below only help to find out why.");
  }

  void throughput()
  {
    const bool faulted = std::any_of(result_.traffic.begin(), result_.traffic.end(),
                                     [](const TrafficResult& t) { return t.faulted.has_value(); });
    if (!faulted) {
      Grid grid({{"THROUGHPUT"}, {"without faults", true}});
      for (const TrafficResult& t : result_.traffic)
        if (shows_throughput(t)) grid.add({t.name, goodput_words(t.baseline)});
      return section(grid);
    }
    const std::size_t bar_width = std::clamp<std::size_t>(style_.width, 78, 96) - 72;
    Grid grid({{"THROUGHPUT"},
               {"unfaulted", true},
               {"faulted", true},
               {""},
               {"kept (95 % interval)"},
               {"predicted", true}});
    for (const TrafficResult& t : result_.traffic) {
      if (!shows_throughput(t)) continue;
      std::vector<Grid::Cell> row{
          {t.name, Tone::strong}, goodput_words(t.baseline), goodput_words(t.faulted)};
      if (t.retention) {
        row.emplace_back(bar(t.retention->value, bar_width, style_.utf8));
        row.emplace_back(retention_words(*t.retention), Tone::strong);
        row.emplace_back(t.retention->predicted ? percent(*t.retention->predicted) : "-");
      }
      grid.add(std::move(row));
    }
    section(grid);
  }

  /// What programs say of themselves that is no rate.
  void figures()
  {
    const bool faulted =
        std::any_of(result_.traffic.begin(), result_.traffic.end(),
                    [](const TrafficResult& t) { return t.figure && t.figure->faulted; });
    std::vector<Grid::Column> columns{{"FIGURES of programs"}, {"without faults", true}};
    if (faulted) columns.push_back({"with faults", true});
    Grid grid(std::move(columns));
    for (const TrafficResult& t : result_.traffic) {
      if (shows_throughput(t)) continue;
      std::vector<Grid::Cell> row{{t.name, Tone::strong},
                                  program_figure_words(t.figure->unit, t.figure->baseline)};
      if (faulted) row.emplace_back(program_figure_words(t.figure->unit, t.figure->faulted));
      grid.add(std::move(row));
    }
    section(grid);
  }

  void endings()
  {
    for (const TrafficResult& t : result_.traffic) {
      for (const std::string& outcome : t.broke)
        paragraph(fmt::format("{} broke: {}", t.name, outcome), Tone::bad, "", 2);
      for (const std::string& outcome : t.ended)
        paragraph(fmt::format("{} ended as expected: {}", t.name, outcome), Tone::plain, "", 2);
    }
  }

  void cpu()
  {
    Grid grid({{"CPU, % of a core"},
               {"host"},
               {"app user", true},
               {"app system", true},
               {"rxe", true},
               {"softirq", true},
               {"all", true},
               {cpu_cost_unit(result_.environment), true}});
    for (const TrafficResult& t : result_.traffic) {
      std::string name = t.name;
      for (const auto& [host, c] : t.cpu) {
        // A host that had nothing to do with it, of three and more.
        if (c.percent_of_core == 0 && host != t.from && host != t.to) continue;
        grid.add(cpu_row(std::exchange(name, ""), host, c));
      }
    }
    section(grid);
  }

  static std::vector<Grid::Cell> cpu_row(const std::string& name, const std::string& host,
                                         const CpuResult& c)
  {
    const double total =
        static_cast<double>(c.app_user_ns + c.app_system_ns + c.rxe_ns + c.softirq_ns);
    const auto share = [&](std::uint64_t ns) {
      return fmt::format("{:.1f}",
                         total > 0 ? static_cast<double>(ns) / total * c.percent_of_core : 0.0);
    };
    return {{name, Tone::strong},
            host,
            share(c.app_user_ns),
            share(c.app_system_ns),
            share(c.rxe_ns),
            share(c.softirq_ns),
            {fmt::format("{:.1f}", c.percent_of_core), Tone::strong},
            c.seconds_per_gib ? analysis::three_digits(*c.seconds_per_gib) : "-"};
  }

  void faults()
  {
    // Where lines are short, the place is what the lab file says anyway.
    const bool wide = style_.width >= 96;
    std::vector<Grid::Column> columns{{"FAULT"},
                                      {"asked", true},
                                      {"applied", true},
                                      {"observed", true},
                                      {"99 % interval"},
                                      {"hit / packets", true},
                                      {""}};
    if (wide) columns.insert(columns.begin() + 1, {"where"});
    Grid grid(std::move(columns));
    for (const FaultResult& f : result_.faults) grid.add(fault_row(f, wide));
    section(grid);
  }

  static std::vector<Grid::Cell> fault_row(const FaultResult& f, bool with_place)
  {
    const std::string name = f.name == f.kind ? f.name : fmt::format("{} ({})", f.name, f.kind);
    std::string interval = "-";
    if (f.observed_low_ppm && f.observed_high_ppm)
      interval =
          fmt::format("{} … {}", ppm_words(f.observed_low_ppm), ppm_words(f.observed_high_ppm));
    std::vector<Grid::Cell> row{
        {name, Tone::strong},
        f.requested_ppm ? ppm_words(f.requested_ppm) : f.setting,
        ppm_words(f.applied_ppm),
        ppm_words(f.observed_ppm),
        interval,
        fmt::format("{} / {}", analysis::count_words(f.dropped), analysis::count_words(f.packets)),
        {f.consistent ? "✔" : "✘", f.consistent ? Tone::good : Tone::bad}};
    if (with_place) row.insert(row.begin() + 1, f.where);
    return row;
  }

  void rules()
  {
    Grid grid({{"RULE"}, {"does"}, {"to"}, {"of"}, {"asked", true}, {"hit / matched", true}, {""}});
    for (const analysis::RuleResult& r : result_.rules)
      grid.add(
          {{r.name, Tone::strong},
           r.kind,
           r.setting,
           r.traffic,
           r.requested_ppm ? ppm_words(r.requested_ppm) : "-",
           fmt::format("{} / {}", analysis::count_words(r.fired), analysis::count_words(r.matched)),
           {r.consistent ? "✔" : "✘", r.consistent ? Tone::good : Tone::bad}});
    section(grid);
  }

  /// Of the first faulted cell of each group; without faults there is nothing to recover from.
  void recoveries()
  {
    for (const analysis::CellRecovery& r : result_.recovery) {
      if (!r.cell.ends_with("/faulted/0")) continue;
      out_ += recovery_table(r.report, style_);
      for (const analysis::TcpWitness& w : r.tcp)
        paragraph(witness_sentence(w), Tone::faint, "- ", 2);
    }
    out_ += events_table(result_, style_);
  }

  void limits()
  {
    Grid grid({{"LIMIT"}, {"the unfaulted goodput is held back by"}});
    for (const TrafficResult& t : result_.traffic)
      if (t.limit) grid.add({{t.name, Tone::strong}, limit_words(*t.limit)});
    section(grid);
  }

  void latencies()
  {
    Grid grid({{"LATENCY of a message"},
               {""},
               {"median", true},
               {"99 %", true},
               {"99.9 %", true},
               {"longest", true}});
    for (const TrafficResult& t : result_.traffic) {
      std::string name = t.name;
      for (const auto& [word, condition] :
           {std::pair{"unfaulted", &t.baseline}, std::pair{"faulted", &t.faulted}}) {
        if (!*condition || !(*condition)->latency) continue;
        const analysis::Latency& l = *(*condition)->latency;
        const auto words = [](std::uint64_t ns) {
          return analysis::time_words(static_cast<double>(ns));
        };
        grid.add({{std::exchange(name, ""), Tone::strong},
                  word,
                  words(l.median_ns),
                  words(l.p99_ns),
                  words(l.p999_ns),
                  words(l.max_ns)});
      }
    }
    section(grid);
  }

  void setup()
  {
    const SetupRows table = setup_rows(result_);
    if (table.rows.empty()) return;
    std::vector<Grid::Column> columns;
    for (const std::string& name : table.heading) columns.push_back({name, !columns.empty()});
    Grid grid(std::move(columns));
    for (const auto& row : table.rows) grid.add({row.begin(), row.end()});
    section(grid);
  }

  void expectations()
  {
    if (result_.expectations.empty()) return;
    line("");
    line("EXPECTED", Tone::strong);
    for (const ExpectationResult& e : result_.expectations) {
      std::string text = e.text;
      if (!e.reason.empty())
        text += ": " + e.reason;
      else if (!e.measured.empty())
        text += (e.value ? ": measured " : ": ") + e.measured;
      paragraph(text, tone_of(e.verdict), mark_of(e.verdict) + " ", 3);
    }
  }

  void claims()
  {
    if (result_.claims.empty()) return;
    line("");
    line("CLAIMS", Tone::strong);
    for (const analysis::ClaimResult& c : result_.claims) {
      const auto [mark, tone] = claim_mark(c.verdict);
      std::string text = fmt::format("{} ({}): {}", c.claim, c.where, claim_words(c.verdict));
      if (!c.holds.empty()) text += fmt::format("; {}: measured {}", c.holds, c.measured);
      if (!c.because.empty()) text += ". " + c.because;
      paragraph(text, tone, mark, 2);
    }
  }

  static std::pair<std::string, Tone> claim_mark(analysis::ClaimVerdict verdict)
  {
    switch (verdict) {
    case analysis::ClaimVerdict::confirmed:
      return {"✔ ", Tone::good};
    case analysis::ClaimVerdict::contradicted:
      return {"✘ ", Tone::bad};
    case analysis::ClaimVerdict::open:
      return {"? ", Tone::doubtful};
    case analysis::ClaimVerdict::unmeasured:
      break;
    }
    return {"- ", Tone::faint};
  }

  void foot()
  {
    line("");
    std::string where = environment_words(result_.environment);
    if (result_.timing.wall_seconds > 0) where += "; " + timing_words(result_.timing);
    paragraph(where, Tone::faint);
    paragraph("record " + result_.record_digest, Tone::faint);
    for (const std::string& note : result_.notes) paragraph(note, Tone::faint, "- ", 2);
    line("");
    paragraph(closing_paragraph(result_), Tone::strong);
  }

  const Result& result_;
  const Style& style_;
  std::string out_;
};

} // namespace

std::string table(const Result& result, const Style& style)
{
  return Page(result, style).text();
}

} // namespace rdmalab::report
