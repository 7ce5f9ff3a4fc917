#pragma once

#include <cstdint>
#include <optional>
#include <span>

/// Means, intervals and shares. Deterministic: no random numbers, no resampling.
namespace rdmalab::analysis {

/// Mean of no values: 0.
double mean(std::span<const double> values);
/// Sample standard deviation (n − 1). 0 for fewer than two values, for which it does not exist.
double sample_sd(std::span<const double> values);

/// The 97.5 % quantile of Student's t: two-sided 95 %. `df` at least 1, may be fractional (Welch).
/// Tabulated for whole df up to 30, beyond by Cornish-Fisher (Abramowitz and Stegun 26.7.5), in
/// between log t interpolated in 1/df: at most 3 % too large between 1 and 2, 0.5 % from 2 on.
double student_t_975(double df);

struct Interval {
  double low = 0;
  double high = 0;
  bool operator==(const Interval&) const = default;
};

/// 95 % interval of the mean by Student's t; nothing for fewer than two values. The spread between
/// repeats is all that it knows: repeats that agree exactly give an interval of width zero.
std::optional<Interval> mean_interval(std::span<const double> values);

/// mean(numerator) / mean(denominator); nothing if the denominator's mean is not positive.
std::optional<double> ratio(std::span<const double> numerator, std::span<const double> denominator);

/// 95 % interval of that ratio: t interval of its logarithm, variance by the delta method,
///   var(log r) = s_n²/(n·m_n²) + s_d²/(d·m_d²),  degrees of freedom by Welch and Satterthwaite,
/// so it is never negative and never unbounded, as Fieller's can be with three noisy repeats. Where
/// the numerator's mean is 0 the logarithm does not exist and neither does the interval, unless all
/// of it is 0: then [0, 0]. Nothing if either side has fewer than two values.
std::optional<Interval> ratio_interval(std::span<const double> numerator,
                                       std::span<const double> denominator);

/// z of the two-sided 99 % interval.
inline constexpr double z_99 = 2.5758293035489004;
/// z beyond which chance is met once in a million: the gate between "unlikely" and "not what was
/// asked for".
inline constexpr double z_one_in_a_million = 4.891638475698928;

struct PpmInterval {
  std::uint64_t low_ppm = 0;
  std::uint64_t high_ppm = 1'000'000;
};

/// Wilson's score interval of a binomial share (Wilson, JASA 22, 1927), rounded outwards to ppm.
/// `trials` is a double so that correlated trials can be given as their effective number. No
/// trials: [0, 1'000'000].
PpmInterval wilson_ppm(double hits, double trials, double z = z_99);

/// hits / trials in ppm, rounded to nearest; nothing without trials.
std::optional<std::uint64_t> share_ppm(std::uint64_t hits, std::uint64_t trials);

/// To six decimals, so that equal figures print alike everywhere. Not a number and infinity become
/// nothing.
std::optional<double> rounded(double value);

} // namespace rdmalab::analysis
