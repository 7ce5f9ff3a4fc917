#include "report/ladder.h"

#include "analysis/words.h"
#include "report/text.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::report {
namespace {

using analysis::Sequence;
using analysis::SequenceStep;

constexpr std::size_t time_columns = 10;
constexpr std::size_t most_arrows = 34; ///< of at most 40 lines

std::string repeat(std::string_view text, std::size_t times)
{
  std::string out;
  for (; times > 0; --times) out += text;
  return out;
}

/// When the left side sees a step.
std::int64_t left_time(const SequenceStep& step)
{
  return step.to_right || !step.arrived_ns ? step.sent_ns : *step.arrived_ns;
}
std::int64_t last_left_time(const SequenceStep& step)
{
  return step.to_right || !step.last_arrived_ns ? step.last_sent_ns : *step.last_arrived_ns;
}

class Ladder {
public:
  Ladder(const Sequence& sequence, const Style& style)
      : sequence_(sequence), style_(style),
        lane_(std::max<std::size_t>(style.width, 40) - 2 * time_columns - 4)
  {}

  std::string text()
  {
    line(sequence_.title, Tone::strong);
    const std::string left = fit(sequence_.left, lane_ / 2);
    const std::string right = fit(sequence_.right, lane_ / 2);
    const std::size_t gap = lane_ + 2 - display_width(left) - display_width(right);
    line(pad("us", time_columns, true) + " " + left + std::string(gap, ' ') + right + " " +
         pad("us", time_columns, true));
    arrows();
    for (const std::string& part : wrap(sequence_.summary, style_.width)) line(part);
    return std::move(out_);
  }

private:
  void line(std::string text, Tone tone = Tone::plain)
  {
    if (!style_.utf8) text = to_ascii(text);
    while (text.ends_with(' ')) text.pop_back();
    out_ += paint(style_, tone, text) + "\n";
  }

  void arrows()
  {
    const std::int64_t pause = pause_of(sequence_);
    std::vector<std::pair<std::string, Tone>> rows;
    std::optional<std::int64_t> before;
    for (const SequenceStep& step : sequence_.steps) {
      if (before && left_time(step) - *before > pause)
        rows.emplace_back(silence(left_time(step) - *before), Tone::faint);
      before = std::max(before.value_or(0), last_left_time(step));
      rows.emplace_back(row(step), tone(step));
    }
    const std::size_t head = most_arrows / 2;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows.size() > most_arrows && i == head) {
        const std::size_t left_out = rows.size() - most_arrows + 1;
        line(middle(fmt::format("… {} more lines …", left_out)), Tone::faint);
        i += left_out;
      }
      line(rows[i].first, rows[i].second);
    }
  }

  /// At most `width` columns, in the style's characters.
  [[nodiscard]] std::string fit(const std::string& text, std::size_t width) const
  {
    if (style_.utf8) return shorten(text, width);
    std::string plain = to_ascii(text);
    if (plain.size() > width)
      plain = plain.substr(0, width - std::min<std::size_t>(width, 3)) + "...";
    return plain;
  }

  static Tone tone(const SequenceStep& step)
  {
    if (!step.lost_to.empty()) return Tone::bad;
    if (step.label.ends_with("NAK")) return Tone::doubtful;
    return step.thrown_away ? Tone::faint : Tone::plain;
  }

  std::string middle(const std::string& text) const
  {
    const std::string shown = fit(text, lane_);
    const std::size_t used = display_width(shown);
    const std::size_t before = (lane_ - used) / 2;
    return std::string(time_columns, ' ') + " │" + std::string(before, ' ') + shown +
           std::string(lane_ - used - before, ' ') + "│";
  }

  std::string silence(std::int64_t ns) const
  {
    return middle(fmt::format("⋮ {} of silence ⋮", analysis::time_words(static_cast<double>(ns))));
  }

  std::string row(const SequenceStep& step) const
  {
    const std::string sent = us_words(step.sent_ns);
    const std::string arrived = step.arrived_ns ? us_words(*step.arrived_ns) : "";
    const std::string& left = step.to_right ? sent : arrived;
    const std::string& right = step.to_right ? arrived : sent;
    return pad(left, time_columns, true) + " │" + arrow(step) + "│ " +
           pad(right, time_columns, true);
  }

  /// As wide as the lane. A lost packet's arrow ends at an X, short of the other side.
  std::string arrow(const SequenceStep& step) const
  {
    std::string fault;
    if (!step.lost_to.empty())
      fault = fit((step.stale_icrc ? "stale ICRC, " : "") + step.lost_to, lane_ * 2 / 5);
    // Ends: shaft at its root, head or X with the fault's name at its tip.
    const std::string tip = fault.empty()   ? (step.to_right ? "▶" : "◀")
                            : step.to_right ? "✗ " + fault
                                            : fault + " ✗";
    const std::size_t spare = fault.empty() ? 0 : lane_ / 6;
    const std::size_t shaft = lane_ - std::min(lane_ - 8, display_width(tip) + spare);
    const std::string label = " " + fit(step_words(step), shaft - 6) + " ";
    const std::string root = "───";
    const std::string rest = repeat("─", shaft - 3 - display_width(label));
    const std::string blank(lane_ - shaft - std::min(lane_ - shaft, display_width(tip)), ' ');
    if (step.to_right) return root + label + rest + tip + blank;
    return blank + tip + rest + label + root;
  }

  const Sequence& sequence_;
  const Style& style_;
  const std::size_t lane_; ///< columns between the two time lines
  std::string out_;
};

} // namespace

std::string us_words(std::int64_t ns)
{
  const std::int64_t tenths = (ns + (ns < 0 ? -50 : 50)) / 100;
  const std::int64_t size = tenths < 0 ? -tenths : tenths;
  return fmt::format("{}{}.{}", tenths < 0 ? "-" : "", size / 10, size % 10);
}

std::string step_words(const SequenceStep& step)
{
  std::string text = step.label + " " + std::to_string(step.first);
  if (step.packets > 1)
    text += fmt::format("{}, {} packets",
                        step.last == step.first ? "" : fmt::format(" … {}", step.last),
                        analysis::count_words(step.packets));
  if (!step.note.empty()) text += ", " + step.note;
  if (step.again) text += ", again";
  if (step.thrown_away) text += ", thrown away";
  return text;
}

std::int64_t pause_of(const Sequence& sequence)
{
  std::int64_t first = 0;
  std::int64_t last = 0;
  for (const SequenceStep& s : sequence.steps) {
    first = std::min(first, left_time(s));
    last = std::max(last, last_left_time(s));
  }
  return std::max<std::int64_t>((last - first) / 4, 100'000);
}

std::string ladder(const Sequence& sequence, const Style& style)
{
  return Ladder(sequence, style).text();
}

} // namespace rdmalab::report
