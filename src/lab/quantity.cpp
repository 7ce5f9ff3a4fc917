#include "lab/quantity.h"

#include "base/units.h"
#include "lab/suggest.h"

#include <charconv>
#include <span>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::lab {
namespace {

using UnitNames = std::vector<std::string>;

/// As base/units.h has them; quantity_test proves that each of them parses.
const UnitNames& units_of(Type type)
{
  static const UnitNames time{"s", "ms", "us", "ns"};
  static const UnitNames bytes{"GiB", "MiB", "KiB", "GB", "MB", "KB", "B"};
  static const UnitNames rate{"gbit", "mbit", "kbit", "bit", "Gb/s", "Mb/s", "kb/s", "b/s"};
  static const UnitNames share{"%", "ppm"};
  static const UnitNames none;
  switch (type) {
  case Type::time:
    return time;
  case Type::bytes:
    return bytes;
  case Type::rate:
    return rate;
  case Type::share:
    return share;
  default:
    return none;
  }
}

std::optional<std::uint64_t> parse_with_unit(Type type, std::string_view text)
{
  switch (type) {
  case Type::time:
    return units::parse_time(text);
  case Type::bytes:
    return units::parse_bytes(text);
  case Type::rate:
    return units::parse_rate(text);
  case Type::share:
    return units::parse_share(text);
  default:
    return std::nullopt;
  }
}

std::string kind_of(Type type)
{
  switch (type) {
  case Type::integer:
    return "a whole number";
  case Type::time:
    return "a time";
  case Type::bytes:
    return "a size";
  case Type::rate:
    return "a rate";
  case Type::share:
    return "a share";
  default:
    return "a value";
  }
}

std::string example_of(Type type)
{
  switch (type) {
  case Type::time:
    return "20us";
  case Type::bytes:
    return "64KiB";
  case Type::rate:
    return "250mbit";
  case Type::share:
    return "1%";
  default:
    return "3";
  }
}

std::variant<std::uint64_t, QuantityError> parse_integer(std::string_view text)
{
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range)
    return QuantityError{fmt::format("{} is too large", text), {}};
  if (error != std::errc{} || end != text.data() + text.size())
    return QuantityError{fmt::format("\"{}\" is not a whole number", text),
                         "write digits only, for example 3"};
  return value;
}

} // namespace

std::string unit_names(Type type)
{
  return join(units_of(type));
}

std::variant<std::uint64_t, QuantityError> parse_quantity(Type type, std::string_view text)
{
  if (type == Type::integer) return parse_integer(text);
  const std::string allowed = fmt::format("units of {}: {}; for example {}", kind_of(type),
                                          unit_names(type), example_of(type));
  const auto digits_end = text.find_first_not_of("0123456789.");
  const std::string_view number = text.substr(0, digits_end);
  if (number.empty() || number.front() == '.' || number.back() == '.' ||
      number.find('.') != number.rfind('.'))
    return QuantityError{fmt::format("\"{}\" is not {}", text, kind_of(type)), allowed};
  if (digits_end == std::string_view::npos)
    return QuantityError{fmt::format("{} has no unit", text), allowed};
  if (const auto value = parse_with_unit(type, text)) return *value;

  std::string_view unit = text.substr(digits_end);
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  const UnitNames& known = units_of(type);
  if (std::find(known.begin(), known.end(), unit) == known.end())
    return QuantityError{
        fmt::format("{}: unknown unit \"{}\"{}", text, unit, did_you_mean(unit, known)), allowed};
  double approximate = 0;
  std::from_chars(number.data(), number.data() + number.size(), approximate);
  if (type == Type::share && approximate > (unit == "%" ? 100.0 : 1e6))
    return QuantityError{fmt::format("{} is more than 100%", text),
                         "a share of packets is 0% to 100%"};
  if (approximate > 1e6) return QuantityError{fmt::format("{} is too large", text), {}};
  return QuantityError{fmt::format("{} has more digits than can be kept exactly", text),
                       fmt::format("the smallest step is {}", format_quantity(type, 1))};
}

std::string format_quantity(Type type, std::uint64_t value)
{
  switch (type) {
  case Type::time:
    return units::format_time(value);
  case Type::bytes:
    return units::format_bytes(value);
  case Type::rate:
    return units::format_rate(value);
  case Type::share:
    return units::format_share(value);
  default:
    return std::to_string(value);
  }
}

std::string quantity_pattern(Type type)
{
  std::string units;
  for (const std::string& unit : units_of(type)) {
    if (!units.empty()) units += '|';
    units += unit;
  }
  return "^[0-9]+(\\.[0-9]+)? *(" + units + ")$";
}

} // namespace rdmalab::lab
