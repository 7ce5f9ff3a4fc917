#pragma once

#include "lab/expression.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// A sentence with figures in braces: "RoCE kept {retention(roce) in %} of {goodput(roce,
/// baseline)}." What stands in braces is a sum of the language of `expect`; `in %` writes a ratio
/// as a percentage.
namespace rdmalab::lab {

/// Text, and the figure that follows it.
struct Piece {
  std::string text;
  std::optional<Expr> figure;
  bool percent = false;
};

struct ParsedSentence {
  std::vector<Piece> pieces;
  std::vector<Problem> problems; ///< empty if the pieces are all
};

/// Syntax, units, and the names of the lab.
ParsedSentence parse_sentence(std::string_view text, const Lab& lab);

} // namespace rdmalab::lab
