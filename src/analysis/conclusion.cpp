#include "analysis/conclusion.h"

#include "analysis/figures.h"
#include "analysis/words.h"
#include "lab/sentence.h"

#include <optional>

namespace rdmalab::analysis {
namespace {

std::optional<std::string> said(const lab::ParsedSentence& sentence, const lab::Lookup& figures)
{
  std::string text;
  for (const lab::Piece& piece : sentence.pieces) {
    text += piece.text;
    if (!piece.figure) continue;
    const auto found = lab::evaluate(*piece.figure, figures);
    if (!found) return std::nullopt;
    text += piece.percent ? percent_words(found->value)
                          : figure_words(found->value, piece.figure->dimension);
  }
  return text;
}

} // namespace

std::vector<std::string> conclude(const record::Record& record, const Result& result)
{
  std::vector<std::string> sentences;
  if (!result.problems.empty()) return sentences;
  const lab::Lookup figures = figures_of(record, result);
  for (const std::string& text : record.lab.conclusion)
    if (auto sentence = said(lab::parse_sentence(text, record.lab), figures))
      sentences.push_back(std::move(*sentence));
  return sentences;
}

} // namespace rdmalab::analysis
