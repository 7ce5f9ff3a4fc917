#include "report/recovery_table.h"

#include "analysis/words.h"
#include "report/grid.h"
#include "report/text.h"

#include <algorithm>
#include <map>
#include <optional>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::report {
namespace {

using analysis::FlowRecovery;
using analysis::RecoveryReport;
using analysis::RecoverySummary;
using analysis::TimeShare;
using analysis::TrafficTime;

/// Rows of RECOVERY at most; a lab may have 64 queue pairs.
constexpr std::size_t most_flows = 12;

std::string ns_words(std::uint64_t ns)
{
  return analysis::time_words(static_cast<double>(ns));
}

std::string or_dash(std::optional<std::uint64_t> ns)
{
  return ns ? ns_words(*ns) : "-";
}

std::string flow_name(const FlowRecovery& f)
{
  return fmt::format("{} {} {}", f.traffic, f.transport == "rc" ? "QP" : "stream", f.flow);
}

class RecoveryPage {
public:
  RecoveryPage(const RecoveryReport& report, const Style& style) : report_(report), style_(style) {}

  std::string text()
  {
    flows();
    window();
    for (const std::string& s : recovery_sentences(report_)) remark(s, Tone::plain, "- ");
    checks();
    for (const std::string& p : report_.problems) remark(p, Tone::doubtful, "? ");
    return std::move(out_);
  }

private:
  void section(const Grid& grid)
  {
    if (!grid.empty()) out_ += "\n" + grid.text(style_);
  }

  void remark(const std::string& text, Tone tone, std::string_view mark)
  {
    if (std::exchange(remarked_, true) == false) out_ += "\n";
    std::string head(mark);
    const std::string plain = style_.utf8 ? text : to_ascii(text);
    for (const std::string& part : wrap(plain, style_.width - 2)) {
      out_ += paint(style_, tone, head + part) + "\n";
      head = "  ";
    }
  }

  void flows()
  {
    std::vector<const FlowRecovery*> rows;
    for (const FlowRecovery& f : report_.flows) rows.push_back(&f);
    std::ranges::stable_sort(rows, [](const FlowRecovery* a, const FlowRecovery* b) {
      return a->figures.lost > b->figures.lost;
    });
    left_out_ = rows.size() > most_flows ? rows.size() - most_flows : 0;
    rows.resize(std::min(rows.size(), most_flows));
    Grid grid({{"RECOVERY"},
               {"lost", true},
               {"by NAK", true},
               {"timer", true},
               {"NAK in", true},
               {"acted in", true},
               {"back in", true},
               {"longest", true},
               {"again", true},
               {"needless", true}});
    for (const FlowRecovery* f : rows) grid.add(flow_row(*f));
    section(grid);
    if (left_out_ > 0)
      out_ +=
          paint(style_, Tone::faint, fmt::format("and {} more, which lost less", left_out_)) + "\n";
  }

  static std::vector<Grid::Cell> flow_row(const FlowRecovery& f)
  {
    const RecoverySummary& sum = f.figures;
    const auto share = [](std::uint64_t part, std::uint64_t whole) -> std::string {
      if (whole == 0) return "-";
      return analysis::percent_words(static_cast<double>(part) / static_cast<double>(whole));
    };
    return {{flow_name(f), Tone::strong},
            analysis::count_words(sum.lost),
            analysis::count_words(sum.by_signal),
            analysis::count_words(sum.by_timer),
            or_dash(sum.nak_generation_ns),
            or_dash(sum.nak_reaction_ns),
            or_dash(sum.recover_ns),
            or_dash(sum.longest_ns),
            share(sum.bytes_again, sum.bytes),
            share(sum.bytes_needless, sum.bytes_again)};
  }

  void window()
  {
    Grid grid({{"WINDOW spent on"},
               {"new payload", true},
               {"replay", true},
               {"waiting for NAK", true},
               {"for time-out", true},
               {"other", true},
               {"of", true}});
    const auto share = [](const TimeShare& s) {
      return s.ns == 0 ? std::string("-")
                       : analysis::percent_words(static_cast<double>(s.ppm) / 1'000'000);
    };
    for (const TrafficTime& t : report_.time)
      if (t.window_ns > 0)
        grid.add({{t.traffic, Tone::strong},
                  share(t.link),
                  share(t.replay),
                  share(t.nak_wait),
                  share(t.timer_wait),
                  share(t.other),
                  ns_words(t.window_ns)});
    section(grid);
  }

  void checks()
  {
    std::map<std::string, std::pair<std::uint64_t, const analysis::Deviation*>> odd;
    for (const FlowRecovery& f : report_.flows) {
      if (f.check.violation) {
        const analysis::Violation& v = *f.check.violation;
        remark(fmt::format("{} breaks the protocol: {} (IB specification {}); {} (packet {})",
                           flow_name(f), v.rule, v.section, v.detail, fmt::join(v.packets, ", ")),
               Tone::bad, "✘ ");
      }
      for (const analysis::Deviation& d : f.check.deviations) {
        auto& [count, first] = odd[d.name];
        count += d.count;
        if (first == nullptr) first = &d;
      }
    }
    for (const auto& [name, found] : odd)
      remark(fmt::format("{}, {} times, first packet {}: {}", name,
                         analysis::count_words(found.first), found.second->packet,
                         found.second->why),
             Tone::faint, "- ");
  }

  const RecoveryReport& report_;
  const Style& style_;
  std::size_t left_out_ = 0;
  bool remarked_ = false;
  std::string out_;
};

std::string ways_words(const RecoverySummary& sum)
{
  const auto part = [](std::uint64_t count, std::optional<std::uint64_t> ns, std::string_view how) {
    const std::string times =
        count == 1 ? "once" : fmt::format("{} times", analysis::count_words(count));
    return fmt::format("{} by {} ({}{})", times, how, count == 1 ? "" : "median ", or_dash(ns));
  };
  std::vector<std::string> ways;
  if (sum.by_signal > 0)
    ways.push_back(part(sum.by_signal, sum.recover_signal_ns,
                        sum.transport == "rc" ? "NAK" : "acknowledgements"));
  if (sum.by_timer > 0) ways.push_back(part(sum.by_timer, sum.recover_timer_ns, "timer"));
  return fmt::format("{}", fmt::join(ways, ", "));
}

std::string summary_sentence(const RecoverySummary& sum)
{
  std::string text = fmt::format("{} lost {} packet{}", sum.traffic,
                                 analysis::count_words(sum.lost), sum.lost == 1 ? "" : "s");
  if (sum.icrc_drops > 0)
    text += fmt::format(" ({} by a stale ICRC, which rxe does not count)",
                        analysis::count_words(sum.icrc_drops));
  if (sum.by_signal + sum.by_timer > 0) text += "; recovered " + ways_words(sum);
  if (sum.naks_ignored > 0)
    text += fmt::format("; {} NAK{} came while it was retrying, and it waited for the timer",
                        analysis::count_words(sum.naks_ignored), sum.naks_ignored == 1 ? "" : "s");
  if (sum.unfinished > 0)
    text += fmt::format("; {} not recovered when the trace ends",
                        analysis::count_words(sum.unfinished));
  if (sum.bytes_needless > 0)
    text += fmt::format("; {} of what was sent again was needless",
                        analysis::percent_words(static_cast<double>(sum.bytes_needless) /
                                                static_cast<double>(sum.bytes_again)));
  return text;
}

} // namespace

std::vector<std::string> recovery_sentences(const RecoveryReport& report)
{
  std::vector<std::string> sentences;
  for (const RecoverySummary& sum : report.traffic)
    if (sum.lost + sum.by_signal + sum.by_timer + sum.unfinished > 0)
      sentences.push_back(summary_sentence(sum));
  return sentences;
}

std::string witness_sentence(const analysis::TcpWitness& witness)
{
  std::string text = fmt::format("The kernel (TCP_INFO) counts {} segments of {} sent again",
                                 analysis::count_words(witness.kernel_again), witness.traffic);
  if (witness.kernel_timeouts)
    text += fmt::format(" and {} time-outs", analysis::count_words(*witness.kernel_timeouts));
  return text + fmt::format(", the trace {} and {}.", analysis::count_words(witness.traced_again),
                            analysis::count_words(witness.traced_timeouts));
}

std::string recovery_table(const RecoveryReport& report, const Style& style)
{
  return RecoveryPage(report, style).text();
}

} // namespace rdmalab::report
