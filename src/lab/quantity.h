#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

/// Numbers with units as people type them, with a message that says which rule they broke.
namespace rdmalab::lab {

/// What a value in a lab file is; times in ns, bytes, rates in bits/s, shares in ppm.
enum class Type {
  text,   ///< any words
  name,   ///< a letter, then letters, digits, - and _
  choice, ///< one of a few words
  flag,   ///< on, off, true, false
  integer,
  time,
  bytes,
  rate,
  share,
  object,       ///< a mapping with known keys
  objects,      ///< a list of them
  hosts,        ///< a list of names or of mappings with a name
  links,        ///< a mapping from host names
  groups,       ///< apart, together, or a list of lists of traffic names
  texts,        ///< a list of texts
  shares,       ///< a list of shares
  words,        ///< one of a few words, or a list of them
  time_or_word, ///< a time, or one of a few words
  spans,        ///< an integer, "first..last", or a list of these
};

/// What went wrong with one quantity.
struct QuantityError {
  std::string message;
  std::string hint;
};

/// Parses an integer, time, bytes, rate or share; an integer takes no unit, all others need one.
/// Errors: not a number, no unit, unknown unit, a share over 100 %, more digits than can be kept,
/// too large.
std::variant<std::uint64_t, QuantityError> parse_quantity(Type type, std::string_view text);

/// The shortest text that parses back to the same value.
std::string format_quantity(Type type, std::uint64_t value);

/// "ns, us, ms, s": the units that a quantity of this type may carry.
std::string unit_names(Type type);

/// A regular expression (ECMA 262) that every quantity of this type matches.
std::string quantity_pattern(Type type);

} // namespace rdmalab::lab
