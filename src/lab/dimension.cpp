#include "lab/dimension.h"

namespace rdmalab::lab {

std::string dimension_name(Dimension d)
{
  switch (d) {
  case Dimension::number:
    return "a number";
  case Dimension::ratio:
    return "a ratio";
  case Dimension::count:
    return "a count";
  case Dimension::rate:
    return "a rate";
  case Dimension::time:
    return "a time";
  case Dimension::bytes:
    return "a size";
  case Dimension::any:
    return "a figure";
  }
  return {};
}

std::optional<Type> type_of(Dimension d)
{
  switch (d) {
  case Dimension::rate:
    return Type::rate;
  case Dimension::time:
    return Type::time;
  case Dimension::bytes:
    return Type::bytes;
  default:
    return std::nullopt;
  }
}

namespace {

bool pure(Dimension d)
{
  return d == Dimension::number || d == Dimension::ratio;
}

} // namespace

std::optional<Dimension> common(Dimension a, Dimension b)
{
  if (a == b || b == Dimension::any) return a;
  if (a == Dimension::any) return b;
  if (a == Dimension::number && (b == Dimension::ratio || b == Dimension::count)) return b;
  if (b == Dimension::number && (a == Dimension::ratio || a == Dimension::count)) return a;
  return std::nullopt;
}

std::optional<Dimension> product(Dimension a, Dimension b)
{
  if (a == Dimension::any || b == Dimension::any) return Dimension::any;
  if (a == Dimension::number) return b;
  if (b == Dimension::number) return a;
  if (a == Dimension::ratio) return b;
  if (b == Dimension::ratio) return a;
  return std::nullopt;
}

std::optional<Dimension> quotient(Dimension a, Dimension b)
{
  if (a == Dimension::any || b == Dimension::any) return Dimension::any;
  if (a == Dimension::number && b == Dimension::number) return Dimension::number;
  if (a == b) return Dimension::ratio;
  if (pure(b)) return a == Dimension::number ? Dimension::ratio : a;
  return std::nullopt;
}

} // namespace rdmalab::lab
