#include "base/units.h"
#include "report/curve.h"
#include "report/phrases.h"
#include "report/xml.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::report {
namespace {

using analysis::Curve;
using analysis::CurvePoint;

constexpr double chart_width = 760;
constexpr double chart_height = 420;
constexpr double chart_left = 60;
constexpr double chart_right = 190; // the legend stands there
constexpr double chart_top = 40;
constexpr double chart_bottom = 50;

constexpr std::array<std::string_view, 8> inks{"#1b6ca8", "#c0392b", "#27865a", "#8e5bb5",
                                               "#b8860b", "#2f8f9d", "#7f4f24", "#555555"};

class CurvePicture {
public:
  explicit CurvePicture(const analysis::SweepResult& sweep) : sweep_(sweep)
  {
    for (const Curve& curve : sweep.curves)
      for (const CurvePoint& p : curve.points) {
        const double rate = std::log10(static_cast<double>(std::max<std::uint64_t>(p.rate_ppm, 1)));
        least_ = std::min(least_, rate);
        most_ = std::max(most_, rate);
      }
    if (most_ <= least_) most_ = least_ + 1;
  }

  std::string text()
  {
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        chart_width, chart_height);
    label(chart_left, 22, "start",
          fmt::format("{}: throughput kept at {}", sweep_.lab, sweep_.kind), 15);
    axes();
    for (std::size_t i = 0; i < sweep_.curves.size(); ++i) curve(sweep_.curves[i], i);
    return out_ + "</svg>\n";
  }

private:
  double x(std::uint64_t rate_ppm) const
  {
    const double rate = std::log10(static_cast<double>(std::max<std::uint64_t>(rate_ppm, 1)));
    return chart_left +
           (rate - least_) / (most_ - least_) * (chart_width - chart_left - chart_right);
  }
  static double y(double kept)
  {
    return chart_top + (1 - std::min(kept, 1.05)) * (chart_height - chart_top - chart_bottom);
  }

  void label(double at_x, double at_y, std::string_view anchor, const std::string& text, int size)
  {
    out_ += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"{}\">{}</text>\n", at_x,
        at_y, anchor, size, xml_text(text));
  }
  void line(double x1, double y1, double x2, double y2, std::string_view look)
  {
    out_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1,
                        y1, x2, y2, look);
  }

  void axes()
  {
    for (int tenth = 0; tenth <= 10; tenth += 2) {
      line(chart_left, y(tenth / 10.0), chart_width - chart_right, y(tenth / 10.0),
           "stroke=\"#dddddd\"");
      label(chart_left - 8, y(tenth / 10.0) + 4, "end", fmt::format("{} %", tenth * 10), 12);
    }
    if (sweep_.curves.empty()) return;
    for (const CurvePoint& p : sweep_.curves.front().points) {
      line(x(p.rate_ppm), chart_height - chart_bottom, x(p.rate_ppm),
           chart_height - chart_bottom + 5, "stroke=\"#555555\"");
      label(x(p.rate_ppm), chart_height - chart_bottom + 20, "middle",
            units::format_share(p.rate_ppm), 12);
    }
    line(chart_left, chart_height - chart_bottom, chart_width - chart_right,
         chart_height - chart_bottom, "stroke=\"#555555\"");
  }

  void curve(const Curve& curve, std::size_t index)
  {
    const std::string_view ink = inks.at(index % inks.size());
    std::string measured;
    std::string predicted;
    for (const CurvePoint& p : curve.points) {
      if (!p.retention) continue;
      measured += fmt::format("{:.1f},{:.1f} ", x(p.rate_ppm), y(p.retention->value));
      if (p.retention->predicted)
        predicted += fmt::format("{:.1f},{:.1f} ", x(p.rate_ppm), y(*p.retention->predicted));
      out_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n",
                          x(p.rate_ppm), y(p.retention->value), ink);
      if (p.retention->low && p.retention->high)
        line(x(p.rate_ppm), y(*p.retention->low), x(p.rate_ppm), y(*p.retention->high),
             fmt::format("stroke=\"{}\"", ink));
    }
    out_ +=
        fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n",
                    measured, ink);
    if (!predicted.empty())
      out_ += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" "
                          "stroke-dasharray=\"4 4\"/>\n",
                          predicted, ink);
    const double row = chart_top + 10 + 20 * static_cast<double>(index);
    line(chart_width - chart_right + 16, row, chart_width - chart_right + 40, row,
         fmt::format("stroke=\"{}\" stroke-width=\"2\"", ink));
    label(chart_width - chart_right + 46, row + 4, "start", curve.traffic, 12);
  }

  const analysis::SweepResult& sweep_;
  double least_ = 6;
  double most_ = 0;
  std::string out_;
};

} // namespace

std::string curve_svg(const analysis::SweepResult& sweep)
{
  return CurvePicture(sweep).text();
}

} // namespace rdmalab::report
