#pragma once

#include <cstdint>
#include <string>

/// Quantities for people: three significant digits and a unit. For exact text see base/units.h.
namespace rdmalab::analysis {

/// "941 Mb/s", "1.24 Gb/s", "0 b/s".
std::string rate_words(double bits_per_second);
/// "64.3 us", "1.5 ms".
std::string time_words(double ns);
/// Share of one as a percentage: "28 %", "0.12 %", "98.7 %".
std::string percent_words(double share);
/// "1 203", in groups of three.
std::string count_words(std::uint64_t count);
/// A value with about three significant digits and no exponent: "0.284", "12.3", "941", "1250".
std::string three_digits(double value);

} // namespace rdmalab::analysis
