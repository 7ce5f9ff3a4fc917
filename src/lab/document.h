#pragma once

#include "lab/diagnostic.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// YAML text as a tree in which every key and value knows its place. Built from yaml-cpp's events
/// and not by YAML::Load, which loses the place of null values, keeps duplicate keys silently and
/// shares aliased nodes.
namespace rdmalab::lab {

struct Node {
  enum class Kind { null, scalar, sequence, mapping };
  Kind kind = Kind::null;
  int line = 0;            ///< from 1
  int column = 0;          ///< from 1
  bool quoted = false;     ///< the text begins one column later
  std::string text;        ///< of a scalar
  std::vector<Node> keys;  ///< of a mapping, in the file's order, duplicates included
  std::vector<Node> items; ///< of a sequence; of a mapping: the values

  [[nodiscard]] bool scalar() const { return kind == Kind::scalar; }
  [[nodiscard]] bool sequence() const { return kind == Kind::sequence; }
  [[nodiscard]] bool mapping() const { return kind == Kind::mapping; }
};

/// "a list", "a mapping", "nothing", or the scalar in quotes: for messages.
std::string describe(const Node& node);

/// Parses text that holds one YAML document. What is wrong goes to `out`; then there may be no
/// tree. At most 1 MiB, 32 levels and 20'000 nodes after aliases are expanded, so that no text
/// takes long.
std::optional<Node> parse_document(std::string_view text, Diagnostics& out);

inline constexpr std::size_t max_document_bytes = 1 << 20;

} // namespace rdmalab::lab
