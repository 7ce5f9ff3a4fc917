#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace rdmalab::report {

/// How text for a person may look.
struct Style {
  bool utf8 = true;        ///< otherwise plain ASCII
  bool colour = false;     ///< ANSI escapes
  std::size_t width = 100; ///< columns, 40 … 100
};

/// Reads an environment variable; nullptr if it is not set.
using Env = std::function<const char*(const char*)>;

/// The style that an output wants: colour on a terminal unless NO_COLOR is set to anything
/// (no-color.org) or TERM is dumb; UTF-8 if LC_ALL, LC_CTYPE or LANG, the first one set, says so;
/// as wide as the terminal, at most 100 columns. `columns` 0: unknown, and 100 are taken.
Style style_of(bool terminal, std::size_t columns, const Env& env);

enum class Tone { plain, strong, good, bad, doubtful, faint };

/// The text in a tone; unchanged without colour.
std::string paint(const Style& style, Tone tone, std::string_view text);

} // namespace rdmalab::report
