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

/// Number of insertions, deletions, substitutions and swaps of neighbours between two words
/// (optimal string alignment, Damerau 1964); upper and lower case are the same.
inline std::size_t edit_distance(std::string_view a, std::string_view b)
{
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  const auto same = [&](std::size_t i, std::size_t j) { return lower(a[i]) == lower(b[j]); };
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::vector<std::size_t> row(b.size() + 1, i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({last[j + 1] + 1, row[j] + 1, last[j] + (same(i, j) ? 0U : 1U)});
      if (i > 0 && j > 0 && same(i, j - 1) && same(i - 1, j))
        row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
    before = std::move(last);
    last = std::move(row);
  }
  return last[b.size()];
}

/// The candidate nearest to `word`, if it is near enough to be meant: one mistake in a short word,
/// two from four letters on, three from nine on. Of equally near ones the first wins.
template <typename Candidates>
std::optional<std::string> nearest(std::string_view word, const Candidates& candidates)
{
  constexpr std::size_t longest = 64; // a longer word is no typing mistake
  if (word.size() > longest) return std::nullopt;
  const std::size_t allowed = word.size() < 4 ? 1 : word.size() < 9 ? 2 : 3;
  std::optional<std::string> best;
  std::size_t best_distance = allowed + 1;
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
