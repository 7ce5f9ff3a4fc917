#include "analysis/stages.h"

#include <cmath>
#include <set>

namespace rdmalab::analysis {

std::optional<Line> fit_line(const std::vector<double>& x, const std::vector<double>& y)
{
  const std::size_t n = std::min(x.size(), y.size());
  if (std::set<double>(x.begin(), x.end()).size() < 3) return std::nullopt;
  double w = 0;
  double wx = 0;
  double wy = 0;
  double wxx = 0;
  double wxy = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (!(y[i] > 0)) return std::nullopt;
    const double weight = 1 / (y[i] * y[i]);
    w += weight;
    wx += weight * x[i];
    wy += weight * y[i];
    wxx += weight * x[i] * x[i];
    wxy += weight * x[i] * y[i];
  }
  const double d = w * wxx - wx * wx;
  if (!(d > 0)) return std::nullopt;
  Line line;
  line.b = (w * wxy - wx * wy) / d;
  line.a = (wy - line.b * wx) / w;
  double left = 0;
  double all = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double weight = 1 / (y[i] * y[i]);
    const double residual = y[i] - line.a - line.b * x[i];
    left += weight * residual * residual;
    all += weight * (y[i] - wy / w) * (y[i] - wy / w);
  }
  const double variance = left / static_cast<double>(n - 2);
  line.a_error = std::sqrt(variance * wxx / d);
  line.b_error = std::sqrt(variance * w / d);
  line.r2 = all > 0 ? 1 - left / all : 1;
  return line;
}

} // namespace rdmalab::analysis
