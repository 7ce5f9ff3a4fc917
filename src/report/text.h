#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Text measured in terminal columns, not bytes.
namespace rdmalab::report {

/// One code point of UTF-8 text and how many bytes it took. Bytes that are no UTF-8 decode one by
/// one to U+FFFD.
struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;
};
CodePoint decode(std::string_view text);
/// Appends a code point as UTF-8.
void encode(std::string& text, char32_t value);

/// Columns that the text takes: combining marks none, East Asian wide characters two, ANSI colour
/// sequences none.
std::size_t display_width(std::string_view text);

/// At most `width` columns; what is cut off is marked by an ellipsis.
std::string shorten(std::string_view text, std::size_t width);

/// Padded with spaces to `width` columns.
std::string pad(std::string_view text, std::size_t width, bool right = false);

/// Lines of at most `width` columns, broken at spaces, but not between a number and its unit; a
/// longer word stands alone on its line.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// The same in ASCII: "…" becomes "...", "λ" "lambda", a character without a likeness "?".
std::string to_ascii(std::string_view text);

/// A bar of block characters for a share of one, `width` columns, in eighths of a column (in whole
/// columns of '#' in ASCII). More than one fills the bar.
std::string bar(double share, std::size_t width, bool utf8);

} // namespace rdmalab::report
