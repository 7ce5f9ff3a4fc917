#include "report/ladder_svg.h"

#include "analysis/words.h"
#include "report/ladder.h"
#include "report/text.h"
#include "report/xml.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::report {
namespace {

using analysis::Sequence;
using analysis::SequenceStep;

// Pixels; the picture scales.
constexpr double page_width = 1200;
constexpr double left_x = 150;
constexpr double right_x = 1050;
constexpr double top_y = 150;
constexpr double start_height = 40; ///< where a step begins: room for its label
constexpr double event_height = 14; ///< where one only ends
constexpr double pause_height = 64;
constexpr std::size_t most_steps = 34;

constexpr std::string_view new_colour = "#0550ae";
constexpr std::string_view again_colour = "#bc4c00";
constexpr std::string_view useless_colour = "#6e7781";
constexpr std::string_view answer_colour = "#1a7f37";
constexpr std::string_view nak_colour = "#8250df";
constexpr std::string_view lost_colour = "#cf222e";

struct Point {
  double x = 0;
  double y = 0;
};

std::string_view colour_of(const SequenceStep& step)
{
  if (!step.lost_to.empty()) return lost_colour;
  if (step.label.ends_with("NAK")) return nak_colour;
  if (step.label.ends_with("ACK")) return answer_colour;
  if (step.thrown_away) return useless_colour;
  return step.again ? again_colour : new_colour;
}

/// Heights of the times that the picture shows.
class TimeAxis {
public:
  /// `pause`: a gap from here on gets a mark instead of its length, ns.
  TimeAxis(const std::vector<const SequenceStep*>& steps, std::int64_t pause)
  {
    std::map<std::int64_t, bool> events; // does a step begin there?
    for (const SequenceStep* s : steps) {
      events[s->sent_ns] = true;
      for (const auto& end : {std::optional(s->last_sent_ns), s->arrived_ns, s->last_arrived_ns})
        if (end) events.try_emplace(*end, false);
    }
    double y = top_y;
    std::optional<std::int64_t> before;
    for (const auto& [time, begins] : events) {
      if (before && time - *before > pause) {
        pauses_.push_back({y + pause_height / 2, time - *before});
        y += pause_height;
      }
      y += begins ? start_height : event_height;
      heights_[time] = y;
      before = time;
    }
    end_ = y + 24;
  }

  [[nodiscard]] double at(std::int64_t time) const { return heights_.at(time); }
  [[nodiscard]] double end() const { return end_; }
  struct Pause {
    double y = 0;
    std::int64_t ns = 0;
  };
  [[nodiscard]] const std::vector<Pause>& pauses() const { return pauses_; }

private:
  std::map<std::int64_t, double> heights_;
  std::vector<Pause> pauses_;
  double end_ = 0;
};

class Picture {
public:
  explicit Picture(const Sequence& sequence)
      : sequence_(sequence), steps_(chosen(sequence)), axis_(steps_, pause_of(sequence))
  {}

  std::string svg()
  {
    lanes();
    // Bands below, then arrows, then text, so that nothing covers a label.
    for (const SequenceStep* s : steps_) band(*s);
    for (const SequenceStep* s : steps_) arrow(*s);
    for (const TimeAxis::Pause& p : axis_.pauses()) pause(p);
    for (const SequenceStep* s : steps_) label(*s);
    times();
    const double bottom = foot();
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
        "width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\" aria-label=\"{2}\">\n"
        "<style>text {{ font-family: system-ui, 'DejaVu Sans', sans-serif; font-size: 21px; }} "
        ".halo {{ stroke: #fff; stroke-width: 5px; stroke-linejoin: round; paint-order: stroke; }} "
        ".title {{ font-size: 28px; font-weight: bold; }} "
        ".host {{ font-size: 24px; font-weight: bold; }} "
        ".time {{ font-size: 18px; }} .lost {{ font-weight: bold; }}</style>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{3}</svg>\n",
        page_width, bottom, xml_text(sequence_.title), body_);
  }

private:
  /// All steps, or the first and the last.
  static std::vector<const SequenceStep*> chosen(const Sequence& sequence)
  {
    std::vector<const SequenceStep*> steps;
    const std::size_t count = sequence.steps.size();
    for (std::size_t i = 0; i < count; ++i)
      if (count <= most_steps || i < most_steps / 2 || i >= count - most_steps / 2)
        steps.push_back(&sequence.steps[i]);
    return steps;
  }

  void text(Point at, std::string_view anchor, std::string_view css, std::string_view words,
            std::string_view colour = "#1b1f24")
  {
    body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\" "
                         "style=\"fill: {}\">{}</text>\n",
                         at.x, at.y, anchor, css, colour, xml_text(words));
  }
  void line(Point from, Point to, std::string_view colour, double width, bool dashed = false)
  {
    body_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" "
                         "stroke=\"{}\" stroke-width=\"{}\"{}/>\n",
                         from.x, from.y, to.x, to.y, colour, width,
                         dashed ? " stroke-dasharray=\"9 6\"" : "");
  }

  void lanes()
  {
    text({page_width / 2, 44}, "middle", "title", shorten(sequence_.title, 66));
    text({left_x, 104}, "middle", "host", shorten(sequence_.left, 22));
    text({right_x, 104}, "middle", "host", shorten(sequence_.right, 22));
    text({left_x - 14, 134}, "end", "time", "us");
    text({right_x + 14, 134}, "start", "time", "us");
    for (const double x : {left_x, right_x}) line({x, 118}, {x, axis_.end()}, "#1b1f24", 2.5);
    if (sequence_.steps.size() > steps_.size())
      text({page_width / 2, 104}, "middle", "time",
           fmt::format("{} arrows in the middle are left out",
                       sequence_.steps.size() - steps_.size()));
  }

  static double sender(const SequenceStep& s) { return s.to_right ? left_x : right_x; }
  static double receiver(const SequenceStep& s) { return s.to_right ? right_x : left_x; }

  void band(const SequenceStep& s)
  {
    if (s.packets < 2 || !s.arrived_ns || !s.last_arrived_ns) return;
    body_ += fmt::format(
        "<polygon points=\"{0:.1f},{1:.1f} {2:.1f},{3:.1f} {2:.1f},{4:.1f} {0:.1f},{5:.1f}\" "
        "fill=\"{6}\" fill-opacity=\"0.13\"/>\n",
        sender(s), axis_.at(s.sent_ns), receiver(s), axis_.at(*s.arrived_ns),
        axis_.at(*s.last_arrived_ns), axis_.at(s.last_sent_ns), colour_of(s));
  }

  void arrow(const SequenceStep& s)
  {
    const std::string_view colour = colour_of(s);
    const Point from{sender(s), axis_.at(s.sent_ns)};
    const bool dashed = s.thrown_away;
    if (!s.arrived_ns) return cross(from, lost_at(s), colour);
    const Point to{receiver(s), axis_.at(*s.arrived_ns)};
    if (s.stale_icrc) return cross(from, {to.x + (s.to_right ? -14 : 14), to.y}, colour);
    head_line(from, to, colour, dashed);
    if (s.packets > 1 && s.last_arrived_ns)
      head_line({sender(s), axis_.at(s.last_sent_ns)}, {receiver(s), axis_.at(*s.last_arrived_ns)},
                colour, dashed);
  }

  void head_line(Point from, Point to, std::string_view colour, bool dashed)
  {
    const double angle = std::atan2(to.y - from.y, to.x - from.x);
    const auto back = [&](double along, double across) {
      return Point{to.x - along * std::cos(angle) - across * std::sin(angle),
                   to.y - along * std::sin(angle) + across * std::cos(angle)};
    };
    line(from, back(12, 0), colour, 2.5, dashed);
    const Point a = back(16, 6);
    const Point b = back(16, -6);
    body_ +=
        fmt::format("<polygon points=\"{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}\" fill=\"{}\"/>\n",
                    to.x, to.y, a.x, a.y, b.x, b.y, colour);
  }

  /// Where a lost packet's arrow ends: more than half of the way.
  Point lost_at(const SequenceStep& s) const
  {
    const double way = (receiver(s) - sender(s)) * 0.58;
    return {sender(s) + way, axis_.at(s.sent_ns) + 16};
  }

  void cross(Point from, Point at, std::string_view colour)
  {
    line(from, at, colour, 2.5);
    line({at.x - 10, at.y - 10}, {at.x + 10, at.y + 10}, colour, 5);
    line({at.x - 10, at.y + 10}, {at.x + 10, at.y - 10}, colour, 5);
  }

  void label(const SequenceStep& s)
  {
    const double away = s.to_right ? 14 : -14;
    text({sender(s) + away, axis_.at(s.sent_ns) - 7}, s.to_right ? "start" : "end", "halo",
         shorten(step_words(s), 60), colour_of(s));
    if (s.lost_to.empty()) return;
    const std::string fault = shorten(s.lost_to, 28);
    if (s.stale_icrc)
      return text({receiver(s) - 2 * away - away, axis_.at(*s.arrived_ns) - 12},
                  s.to_right ? "end" : "start", "halo lost", "stale ICRC: " + fault, lost_colour);
    const Point at = lost_at(s);
    text({at.x + (s.to_right ? 20 : -20), at.y + 7}, s.to_right ? "start" : "end", "halo lost",
         fault, lost_colour);
  }

  void pause(const TimeAxis::Pause& p)
  {
    for (const double x : {left_x, right_x}) {
      body_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"8\" height=\"28\" "
                           "fill=\"#fff\"/>\n",
                           x - 4, p.y - 14);
      for (const double dy : {-8.0, 0.0, 8.0})
        body_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"#1b1f24\"/>\n",
                             x, p.y + dy);
    }
    text({page_width / 2, p.y + 7}, "middle", "halo lost",
         analysis::time_words(static_cast<double>(p.ns)) + " of silence", "#57606a");
  }

  /// Beside both lanes, as many as find room.
  void times()
  {
    std::map<std::int64_t, double> left;
    std::map<std::int64_t, double> right;
    for (const SequenceStep* s : steps_) {
      auto& sent = s->to_right ? left : right;
      auto& arrived = s->to_right ? right : left;
      sent[s->sent_ns] = axis_.at(s->sent_ns);
      sent[s->last_sent_ns] = axis_.at(s->last_sent_ns);
      if (s->arrived_ns) arrived[*s->arrived_ns] = axis_.at(*s->arrived_ns);
      if (s->last_arrived_ns) arrived[*s->last_arrived_ns] = axis_.at(*s->last_arrived_ns);
    }
    for (const bool on_left : {true, false}) {
      double free_from = 0;
      for (const auto& [time, y] : on_left ? left : right) {
        const double x = on_left ? left_x : right_x;
        body_ +=
            fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"#1b1f24\"/>\n", x, y);
        if (y < free_from) continue;
        free_from = y + 19;
        text({x + (on_left ? -14 : 14), y + 6}, on_left ? "end" : "start", "time", us_words(time),
             "#57606a");
      }
    }
  }

  double foot()
  {
    double y = axis_.end() + 44;
    for (const std::string& part : wrap(sequence_.summary, 90)) {
      text({page_width / 2, y}, "middle", "lost", part);
      y += 28;
    }
    return y;
  }

  const Sequence& sequence_;
  const std::vector<const SequenceStep*> steps_;
  const TimeAxis axis_;
  std::string body_;
};

} // namespace

std::string ladder_svg(const Sequence& sequence)
{
  return Picture(sequence).svg();
}

} // namespace rdmalab::report
