#pragma once

#include "lab/document.h"
#include "lab/keys.h"

#include <optional>
#include <set>
#include <string>

namespace rdmalab::lab {

/// A letter, then at most 31 letters, digits, - and _.
bool is_name(std::string_view text);
inline constexpr const char* name_pattern = "^[A-Za-z][A-Za-z0-9_-]{0,31}$";

/// Reads one mapping by its table. The constructor reports what is no mapping, unknown, twice or
/// missing; the getters report values of a wrong type or out of range and then give nothing. A key
/// of the table that nobody asked for is a bug and asserts: schema and parser can't drift apart.
class Reader {
public:
  Reader(const Node& node, const Table& table, Diagnostics& out);
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader();

  /// The value of `kind`; empty if the table has none or the value is not known.
  [[nodiscard]] const std::string& kind() const { return kind_; }
  [[nodiscard]] bool has(std::string_view name) const { return value_of(name) != nullptr; }
  /// Where to complain about a key: its value, or the whole mapping.
  [[nodiscard]] const Node& place(std::string_view name) const;

  /// An integer, time, bytes, rate or share.
  std::optional<std::uint64_t> number(std::string_view name);
  /// A text, name or choice.
  std::optional<std::string> text(std::string_view name);
  std::optional<bool> flag(std::string_view name);
  /// Anything else, null if it is not there.
  const Node* child(std::string_view name);

  /// number() into a field of any unsigned type, text() into a string, flag() into a bool, if
  /// given.
  template <typename T> void into(std::string_view name, T& field)
  {
    if constexpr (std::is_same_v<T, bool>) {
      if (const auto value = flag(name)) field = *value;
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (auto value = text(name)) field = std::move(*value);
    } else {
      if (const auto value = number(name)) field = static_cast<T>(*value);
    }
  }

private:
  const Key* ask(std::string_view name);
  const Node* value_of(std::string_view name) const;
  void read_kind();
  void check_keys();
  void check_required();

  const Node& node_;
  const Table& table_;
  Diagnostics& out_;
  std::string kind_;
  std::set<std::string, std::less<>> asked_;
};

/// The number in a scalar, checked against the key's range and choices.
std::optional<std::uint64_t> read_number(const Node& node, const Key& key, Diagnostics& out);

} // namespace rdmalab::lab
