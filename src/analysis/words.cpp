#include "analysis/words.h"

#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::analysis {
namespace {

struct Scale {
  double size;
  std::string_view unit;
};

std::string scaled(double value, std::span<const Scale> scales)
{
  for (const Scale& s : scales)
    // 999.6 would print as 1000 of the smaller unit.
    if (std::abs(value) >= s.size * 0.9995)
      return fmt::format("{} {}", three_digits(value / s.size), s.unit);
  return fmt::format("{} {}", three_digits(value / scales.back().size), scales.back().unit);
}

} // namespace

std::string three_digits(double value)
{
  const double size = std::abs(value);
  int decimals = 0;
  if (size > 0 && size < 99.95) {
    decimals = 2 - static_cast<int>(std::floor(std::log10(size)));
    // 9.996 rounds up to two digits before the point.
    if (std::round(size * std::pow(10, decimals)) >= 1000) --decimals;
  }
  decimals = std::min(decimals, 6);
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

std::string rate_words(double bits_per_second)
{
  static constexpr std::array<Scale, 4> scales{
      {{1e9, "Gb/s"}, {1e6, "Mb/s"}, {1e3, "kb/s"}, {1, "b/s"}}};
  return scaled(bits_per_second, scales);
}

std::string time_words(double ns)
{
  static constexpr std::array<Scale, 4> scales{{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}}};
  return scaled(ns, scales);
}

std::string percent_words(double share)
{
  return three_digits(share * 100) + " %";
}

std::string count_words(std::uint64_t count)
{
  std::string text = std::to_string(count);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<size_t>(at), " ");
  return text;
}

} // namespace rdmalab::analysis
