#include "base/units.h"

#include "base/wide.h"

#include <array>
#include <charconv>
#include <limits>
#include <span>

namespace rdmalab::units {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t scale;
};

constexpr std::array<Unit, 4> time_units{
    {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}}};
constexpr std::array<Unit, 7> byte_units{{{"GiB", 1ULL << 30},
                                          {"MiB", 1ULL << 20},
                                          {"KiB", 1ULL << 10},
                                          {"GB", 1'000'000'000},
                                          {"MB", 1'000'000},
                                          {"KB", 1'000},
                                          {"B", 1}}};
constexpr std::array<Unit, 8> rate_units{{{"gbit", 1'000'000'000},
                                          {"mbit", 1'000'000},
                                          {"kbit", 1'000},
                                          {"bit", 1},
                                          {"Gb/s", 1'000'000'000},
                                          {"Mb/s", 1'000'000},
                                          {"kb/s", 1'000},
                                          {"b/s", 1}}};
constexpr std::array<Unit, 2> share_units{{{"%", 10'000}, {"ppm", 1}}};

/// Decimal number times scale, exactly: digits with one optional point, no sign, no exponent.
std::optional<std::uint64_t> scaled(std::string_view number, std::uint64_t scale)
{
  const size_t point = number.find('.');
  const std::string_view whole = number.substr(0, point);
  std::string_view fraction =
      point == std::string_view::npos ? std::string_view{} : number.substr(point + 1);
  if (whole.empty() || (point != std::string_view::npos && fraction.empty())) return std::nullopt;
  while (!fraction.empty() && fraction.back() == '0') fraction.remove_suffix(1);

  Wide value = 0;
  for (const char c : whole) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<unsigned>(c - '0');
    if (value > std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
  }
  value *= scale;
  std::uint64_t place = scale;
  for (const char c : fraction) {
    if (c < '0' || c > '9' || place % 10 != 0) return std::nullopt;
    place /= 10;
    value += static_cast<unsigned>(c - '0') * static_cast<Wide>(place);
  }
  if (value > std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

/// A binary scale divides fractions by two, not ten; 0.5KiB is still exact in tenths if it comes
/// out whole.
std::optional<std::uint64_t> scaled_any(std::string_view number, std::uint64_t scale)
{
  if (auto exact = scaled(number, scale)) return exact;
  const size_t point = number.find('.');
  if (point == std::string_view::npos || number.size() - point > 4) return std::nullopt;
  auto thousandths = scaled(number, 1000);
  if (!thousandths) return std::nullopt;
  const auto product = static_cast<Wide>(*thousandths) * scale;
  if (product % 1000 != 0 || product / 1000 > std::numeric_limits<std::uint64_t>::max())
    return std::nullopt;
  return static_cast<std::uint64_t>(product / 1000);
}

std::optional<std::uint64_t> parse(std::string_view text, std::span<const Unit> units)
{
  const size_t end = text.find_first_not_of("0123456789.");
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  std::string_view unit = text.substr(end);
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  for (const Unit& u : units)
    if (u.name == unit) return scaled_any(text.substr(0, end), u.scale);
  return std::nullopt;
}

/// value / scale in decimal, without trailing zeros.
std::string decimal(std::uint64_t value, std::uint64_t scale)
{
  std::string text = std::to_string(value / scale);
  std::uint64_t rest = value % scale;
  if (rest == 0) return text;
  text += '.';
  while (rest != 0) {
    scale /= 10;
    text += static_cast<char>('0' + rest / scale);
    rest %= scale;
  }
  return text;
}

std::string format(std::uint64_t value, std::span<const Unit> units)
{
  for (const Unit& u : units)
    if (value >= u.scale || u.scale == 1) return decimal(value, u.scale) + std::string(u.name);
  return std::to_string(value);
}

} // namespace

std::optional<std::uint64_t> parse_time(std::string_view text)
{
  return parse(text, time_units);
}
std::optional<std::uint64_t> parse_bytes(std::string_view text)
{
  return parse(text, byte_units);
}
std::optional<std::uint64_t> parse_rate(std::string_view text)
{
  return parse(text, rate_units);
}

std::optional<std::uint64_t> parse_share(std::string_view text)
{
  const auto ppm = parse(text, share_units);
  if (ppm && *ppm > 1'000'000) return std::nullopt;
  return ppm;
}

std::string format_time(std::uint64_t ns)
{
  return format(ns, time_units);
}

std::string format_bytes(std::uint64_t bytes)
{
  for (const Unit& u : std::span(byte_units).first(3))
    if (bytes >= u.scale && bytes % u.scale == 0)
      return std::to_string(bytes / u.scale) + std::string(u.name);
  return std::to_string(bytes) + "B";
}

std::string format_rate(std::uint64_t bits_per_second)
{
  return format(bits_per_second, std::span(rate_units).first(4));
}
std::string format_share(std::uint64_t ppm)
{
  return decimal(ppm, 10'000) + "%";
}

} // namespace rdmalab::units
