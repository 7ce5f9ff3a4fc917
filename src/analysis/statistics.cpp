#include "analysis/statistics.h"

#include "base/wide.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace rdmalab::analysis {
namespace {

double square(double x)
{
  return x * x;
}

/// Variance of the mean, relative to the mean's square.
double relative_variance(std::span<const double> values)
{
  const double n = static_cast<double>(values.size());
  return square(sample_sd(values)) / n / square(mean(values));
}

} // namespace

double mean(std::span<const double> values)
{
  if (values.empty()) return 0;
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

double sample_sd(std::span<const double> values)
{
  if (values.size() < 2) return 0;
  const double m = mean(values);
  double sum = 0;
  for (const double v : values) sum += square(v - m);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

double student_t_975(double df)
{
  // Any table of Student's t, two-sided 5 %.
  static constexpr std::array<double, 30> table{
      12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
      2.2010,  2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
      2.0796,  2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423};
  df = std::max(df, 1.0);
  if (df < static_cast<double>(table.size())) {
    const double whole = std::floor(df);
    const auto at = static_cast<size_t>(whole) - 1;
    if (df <= whole) return table.at(at);
    const double part = (1 / whole - 1 / df) / (1 / whole - 1 / (whole + 1));
    return std::exp(std::log(table.at(at)) * (1 - part) + std::log(table.at(at + 1)) * part);
  }
  constexpr double z = 1.959963984540054;
  constexpr double z3 = z * z * z;
  constexpr double z5 = z3 * z * z;
  return z + (z3 + z) / (4 * df) + (5 * z5 + 16 * z3 + 3 * z) / (96 * df * df);
}

std::optional<Interval> mean_interval(std::span<const double> values)
{
  if (values.size() < 2) return std::nullopt;
  const double n = static_cast<double>(values.size());
  const double half = student_t_975(n - 1) * sample_sd(values) / std::sqrt(n);
  const double m = mean(values);
  return Interval{m - half, m + half};
}

std::optional<double> ratio(std::span<const double> numerator, std::span<const double> denominator)
{
  const double below = mean(denominator);
  if (!(below > 0)) return std::nullopt;
  return mean(numerator) / below;
}

std::optional<Interval> ratio_interval(std::span<const double> numerator,
                                       std::span<const double> denominator)
{
  if (numerator.size() < 2 || denominator.size() < 2) return std::nullopt;
  const auto r = ratio(numerator, denominator);
  if (!r || *r < 0) return std::nullopt;
  if (*r <= 0) return Interval{0, 0};

  const double above = relative_variance(numerator);
  const double below = relative_variance(denominator);
  const double variance = above + below;
  if (!(variance > 0)) return Interval{*r, *r};
  const double df =
      square(variance) / (square(above) / static_cast<double>(numerator.size() - 1) +
                          square(below) / static_cast<double>(denominator.size() - 1));
  const double half = student_t_975(df) * std::sqrt(variance);
  return Interval{*r * std::exp(-half), *r * std::exp(half)};
}

PpmInterval wilson_ppm(double hits, double trials, double z)
{
  if (!(trials > 0)) return {};
  const double share = std::clamp(hits / trials, 0.0, 1.0);
  const double z2 = z * z;
  const double centre = (share + z2 / (2 * trials)) / (1 + z2 / trials);
  const double half =
      z / (1 + z2 / trials) * std::sqrt(share * (1 - share) / trials + z2 / (4 * trials * trials));
  // At the ends the bound is exactly 0 or 1; arithmetic leaves it a hair off, which rounding
  // outwards would show.
  const double low = share <= 0 ? 0 : std::clamp(centre - half, 0.0, 1.0);
  const double high = share >= 1 ? 1 : std::clamp(centre + half, 0.0, 1.0);
  return {static_cast<std::uint64_t>(std::floor(low * 1e6)),
          static_cast<std::uint64_t>(std::ceil(high * 1e6))};
}

std::optional<std::uint64_t> share_ppm(std::uint64_t hits, std::uint64_t trials)
{
  if (trials == 0) return std::nullopt;
  return static_cast<std::uint64_t>((static_cast<Wide>(hits) * 1'000'000 + trials / 2) / trials);
}

std::optional<double> rounded(double value)
{
  if (!std::isfinite(value)) return std::nullopt;
  if (std::abs(value) > 1e9) return value;
  const double six = std::round(value * 1e6) / 1e6;
  return six == 0 ? 0.0 : six; // never -0.0
}

} // namespace rdmalab::analysis
