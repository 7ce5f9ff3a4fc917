#include "report/curve.h"

#include "analysis/words.h"
#include "base/units.h"
#include "report/grid.h"
#include "report/phrases.h"

#include <spdlog/fmt/fmt.h>

namespace rdmalab::report {
namespace {

using analysis::Curve;
using analysis::CurvePoint;

Grid::Cell kept_cell(const CurvePoint& point)
{
  if (!point.retention) return {"-", Tone::faint};
  const double kept = point.retention->value;
  const Tone tone = kept >= 0.9 ? Tone::good : kept < 0.5 ? Tone::bad : Tone::doubtful;
  return {percent(kept), tone};
}

Grid::Cell predicted_cell(const CurvePoint& point)
{
  const bool known = point.retention && point.retention->predicted;
  return {known ? percent(*point.retention->predicted) : "-", Tone::faint};
}

bool is_predicted(const Curve& curve)
{
  for (const CurvePoint& p : curve.points)
    if (p.retention && p.retention->predicted) return true;
  return false;
}

} // namespace

std::string curve_table(const analysis::SweepResult& sweep, const Style& style)
{
  std::vector<Grid::Column> columns{{"KEPT at " + sweep.kind}, {"unfaulted", true}};
  if (!sweep.curves.empty())
    for (const CurvePoint& p : sweep.curves.front().points)
      columns.push_back({units::format_share(p.rate_ppm), true});
  Grid grid(columns);
  for (const Curve& curve : sweep.curves) {
    std::vector<Grid::Cell> row{{curve.traffic, Tone::strong},
                                analysis::rate_words(static_cast<double>(curve.baseline_bps))};
    for (const CurvePoint& p : curve.points) row.push_back(kept_cell(p));
    grid.add(row);
    if (!is_predicted(curve)) continue;
    std::vector<Grid::Cell> model{{"  predicted", Tone::faint}, ""};
    for (const CurvePoint& p : curve.points) model.push_back(predicted_cell(p));
    grid.add(model);
  }
  std::string out = "\n" + grid.text(style) + "\n";
  out += paint(style, Tone::faint, environment_words(sweep.environment)) + "\n";
  for (const std::string& problem : sweep.problems)
    out += paint(style, Tone::bad, "! " + problem) + "\n";
  return out;
}

} // namespace rdmalab::report
