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

using analysis::Episode;
using analysis::FlowRecovery;
using analysis::RecoveryReport;
using analysis::TimeShare;
using analysis::TrafficTime;
using analysis::Trigger;

/// Rows of RECOVERY at most; a lab may have 64 queue pairs.
constexpr std::size_t most_flows = 12;

std::string ns_words(std::uint64_t ns)
{
  return analysis::time_words(static_cast<double>(ns));
}

std::optional<std::uint64_t> median_of(std::vector<std::uint64_t> values)
{
  if (values.empty()) return {};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The median over all episodes that have the figure.
std::optional<std::uint64_t> median(const std::vector<const FlowRecovery*>& flows,
                                    std::optional<std::uint64_t> Episode::*figure,
                                    std::optional<bool> by_timer = {})
{
  std::vector<std::uint64_t> values;
  for (const FlowRecovery* f : flows)
    for (const Episode& e : f->episodes)
      if (e.*figure && (!by_timer || *by_timer == analysis::is_timer(e.by)))
        values.push_back(*(e.*figure));
  return median_of(std::move(values));
}

std::string or_dash(std::optional<std::uint64_t> ns)
{
  return ns ? ns_words(*ns) : "-";
}

std::string flow_name(const FlowRecovery& f)
{
  return fmt::format("{} {} {}", f.traffic, f.transport == "rc" ? "QP" : "stream", f.flow);
}

std::uint64_t recovered(const FlowRecovery& f, bool by_timer)
{
  return static_cast<std::uint64_t>(std::ranges::count_if(f.episodes, [&](const Episode& e) {
    return !e.rounds.empty() && analysis::is_timer(e.by) == by_timer;
  }));
}

std::uint64_t needless(const FlowRecovery& f)
{
  std::uint64_t bytes = 0;
  for (const Episode& e : f.episodes) bytes += e.bytes_thrown_away + e.bytes_already_there;
  return bytes;
}

class RecoveryPage {
public:
  RecoveryPage(const RecoveryReport& report, const Style& style) : report_(report), style_(style)
  {}

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
      return a->losses.size() > b->losses.size();
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
      out_ += paint(style_, Tone::faint, fmt::format("and {} more, which lost less", left_out_)) +
              "\n";
  }

  static std::vector<Grid::Cell> flow_row(const FlowRecovery& f)
  {
    const std::vector<const FlowRecovery*> one{&f};
    std::optional<std::uint64_t> longest;
    for (const Episode& e : f.episodes) longest = std::max(longest, e.recover_ns);
    const auto share = [](std::uint64_t part, std::uint64_t whole) -> std::string {
      if (whole == 0) return "-";
      return analysis::percent_words(static_cast<double>(part) / static_cast<double>(whole));
    };
    return {{flow_name(f), Tone::strong},
            analysis::count_words(f.losses.size()),
            analysis::count_words(recovered(f, false)),
            analysis::count_words(recovered(f, true)),
            or_dash(median(one, &Episode::nak_generation_ns)),
            or_dash(median(one, &Episode::nak_reaction_ns)),
            or_dash(median(one, &Episode::recover_ns)),
            or_dash(longest),
            share(f.bytes_again, f.bytes),
            share(needless(f), f.bytes_again)};
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
                           flow_name(f), v.rule, v.section, v.detail,
                           fmt::join(v.packets, ", ")),
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

std::string traffic_sentence(const std::string& traffic,
                             const std::vector<const FlowRecovery*>& flows)
{
  std::uint64_t lost = 0;
  std::uint64_t told = 0;
  std::uint64_t timed = 0;
  std::uint64_t again = 0;
  std::uint64_t wasted = 0;
  std::uint64_t stale = 0;
  for (const FlowRecovery* f : flows) {
    lost += f->losses.size();
    told += recovered(*f, false);
    timed += recovered(*f, true);
    again += f->bytes_again;
    wasted += needless(*f);
    stale += f->icrc_drops;
  }
  if (lost == 0 && told + timed == 0) return {};
  const bool rc = flows.front()->transport == "rc";
  std::string text = fmt::format("{} lost {} packet{}", traffic, analysis::count_words(lost),
                                 lost == 1 ? "" : "s");
  if (stale > 0)
    text += fmt::format(" ({} by a stale ICRC, which rxe does not count)",
                        analysis::count_words(stale));
  const auto part = [&](std::uint64_t count, bool by_timer, std::string_view how) {
    const std::string times =
        count == 1 ? "once" : fmt::format("{} times", analysis::count_words(count));
    const auto typical = median(flows, &Episode::recover_ns, std::optional<bool>(by_timer));
    return fmt::format("{} by {} ({}{})", times, how, count == 1 ? "" : "median ",
                       or_dash(typical));
  };
  std::vector<std::string> ways;
  if (told > 0) ways.push_back(part(told, false, rc ? "NAK" : "acknowledgements"));
  if (timed > 0) ways.push_back(part(timed, true, "timer"));
  if (!ways.empty()) text += fmt::format("; recovered {}", fmt::join(ways, ", "));
  if (wasted > 0)
    text += fmt::format("; {} of what was sent again was needless",
                        analysis::percent_words(static_cast<double>(wasted) /
                                                static_cast<double>(again)));
  return text;
}

} // namespace

std::vector<std::string> recovery_sentences(const RecoveryReport& report)
{
  std::vector<std::string> names;
  std::map<std::string, std::vector<const FlowRecovery*>> flows;
  for (const FlowRecovery& f : report.flows) {
    if (flows.count(f.traffic) == 0) names.push_back(f.traffic);
    flows[f.traffic].push_back(&f);
  }
  std::vector<std::string> sentences;
  for (const std::string& name : names)
    if (std::string s = traffic_sentence(name, flows[name]); !s.empty())
      sentences.push_back(std::move(s));
  return sentences;
}

std::string recovery_table(const RecoveryReport& report, const Style& style)
{
  return RecoveryPage(report, style).text();
}

} // namespace rdmalab::report
