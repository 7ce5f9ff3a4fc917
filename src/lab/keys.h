#pragma once

#include "lab/quantity.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

/// The lab file's keys as tables. The parser reads by them, the JSON schema is written from them,
/// and the reference in docs/lab-file.md is tested against them: what one knows, all know.
namespace rdmalab::lab {

struct Table;

struct Key {
  std::string name;
  Type type = Type::text;
  std::string help; ///< one line, for the schema
  bool required = false;
  std::string fallback;  ///< the default as a lab file would spell it; empty: none
  std::uint64_t min = 0; ///< of a number, in the type's unit
  std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::string> choices; ///< of a choice, or the only values of an integer
  std::vector<std::string> kinds;   ///< values of the table's `kind` that have this key; empty: all
  const Table* table = nullptr;     ///< of object, objects, hosts, links
};

/// A mapping's keys. A table with a key `kind` has other keys for each of its choices.
struct Table {
  std::string what; ///< "a traffic": for messages
  std::vector<Key> keys;

  /// The key that `kind` knows by this name; null: it has none. An empty kind knows the common keys
  /// only.
  [[nodiscard]] const Key* find(std::string_view name, std::string_view kind = {}) const;
  /// The names of all keys of this kind, in the table's order.
  [[nodiscard]] std::vector<std::string> names(std::string_view kind = {}) const;
  /// The names of all keys of any kind, each once.
  [[nodiscard]] std::vector<std::string> all_names() const;
  /// The choices of the key `kind`; empty if the table has none.
  [[nodiscard]] std::vector<std::string> kinds() const;
};

const Table& lab_table();
const Table& topology_table();
const Table& link_table();  ///< the default link, with the MTU
const Table& shape_table(); ///< one direction
const Table& sides_table(); ///< down and up of one host
const Table& host_table();
const Table& traffic_table();
const Table& fault_table();
const Table& where_table();
const Table& rule_table();
const Table& trace_table();
const Table& event_table();
const Table& measure_table();
const Table& claim_table();
const Table& sweep_table();

} // namespace rdmalab::lab
