#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// "Did you mean …": the known word that is nearest to a mistyped one.
namespace rdmalab::lab {

/// Number of insertions, deletions and substitutions between two words (Levenshtein 1966).
inline std::size_t edit_distance(std::string_view a, std::string_view b)
{
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

/// The candidate nearest to `word`, if it is near enough to be meant: at most a third of the word
/// wrong. Of equally near ones the first wins.
template <typename Candidates>
std::optional<std::string> nearest(std::string_view word, const Candidates& candidates)
{
  constexpr std::size_t longest = 64; // a longer word is no typing mistake
  if (word.size() > longest) return std::nullopt;
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(1, (word.size() + 1) / 3) + 1;
  for (const auto& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = std::string(candidate);
  }
  return best;
}

/// "; did you mean "x"?", or nothing.
template <typename Candidates>
std::string did_you_mean(std::string_view word, const Candidates& candidates)
{
  const auto guess = nearest(word, candidates);
  return guess ? "; did you mean \"" + *guess + "\"?" : std::string{};
}

/// "a, b, c"
template <typename Words> std::string join(const Words& words)
{
  std::string text;
  for (const auto& word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

} // namespace rdmalab::lab
