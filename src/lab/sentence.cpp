#include "lab/sentence.h"

#include <utility>

namespace rdmalab::lab {
namespace {

constexpr std::string_view as_percentage = " in %";

} // namespace

ParsedSentence parse_sentence(std::string_view text, const Lab& lab)
{
  ParsedSentence parsed;
  const auto complain = [&](std::size_t at, std::string message, std::string hint) {
    parsed.problems.push_back({static_cast<int>(at) + 1, std::move(message), std::move(hint)});
  };
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t open = text.find('{', at);
    Piece piece{std::string(text.substr(at, open - at)), std::nullopt, false};
    if (open == std::string_view::npos) {
      parsed.pieces.push_back(std::move(piece));
      break;
    }
    const std::size_t close = text.find('}', open);
    if (close == std::string_view::npos) {
      complain(open, "this brace is not closed", "for example {retention(roce) in %}");
      return parsed;
    }
    std::string_view inside = text.substr(open + 1, close - open - 1);
    piece.percent = inside.ends_with(as_percentage);
    if (piece.percent) inside.remove_suffix(as_percentage.size());
    ParsedTerm term = parse_term(inside, lab);
    std::vector<Problem> problems = std::move(term.problems);
    if (term.term) problems = check_expression(*term.term, lab);
    for (Problem& problem : problems) {
      problem.column += static_cast<int>(open) + 1;
      parsed.problems.push_back(std::move(problem));
    }
    if (term.term && piece.percent && term.term->dimension != Dimension::ratio)
      complain(open, "only a ratio can be written in %", "leave \" in %\" out");
    piece.figure = std::move(term.term);
    parsed.pieces.push_back(std::move(piece));
    at = close + 1;
  }
  return parsed;
}

} // namespace rdmalab::lab
