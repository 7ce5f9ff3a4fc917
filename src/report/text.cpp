#include "report/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace rdmalab::report {
namespace {

constexpr char32_t replacement = 0xFFFD;

struct Range {
  char32_t first;
  char32_t last;
};

template <std::size_t n> bool within(char32_t c, const std::array<Range, n>& ranges)
{
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& r) { return r.first <= c && c <= r.last; });
}

/// Unicode's East Asian Width W and F, in rough blocks, and emoji; combining marks and joiners.
std::size_t columns(char32_t c)
{
  static constexpr std::array<Range, 7> none{{{0x300, 0x36F},
                                              {0x1AB0, 0x1AFF},
                                              {0x1DC0, 0x1DFF},
                                              {0x200B, 0x200F},
                                              {0x20D0, 0x20FF},
                                              {0xFE00, 0xFE0F},
                                              {0xFE20, 0xFE2F}}};
  static constexpr std::array<Range, 8> wide{{{0x1100, 0x115F},
                                              {0x2E80, 0xA4CF},
                                              {0xAC00, 0xD7A3},
                                              {0xF900, 0xFAFF},
                                              {0xFE30, 0xFE6F},
                                              {0xFF00, 0xFF60},
                                              {0x1F300, 0x1FAFF},
                                              {0x20000, 0x3FFFD}}};
  if (c < 0x20 || within(c, none)) return 0;
  return within(c, wide) ? 2 : 1;
}

/// Length of an ANSI sequence (ESC [ … letter) at the start of the text, 0 if there is none.
std::size_t escape_length(std::string_view text)
{
  if (!text.starts_with("\x1b[")) return 0;
  std::size_t at = 2;
  while (at < text.size() && (text[at] < '@' || text[at] > '~')) ++at;
  return std::min(at + 1, text.size());
}

std::string_view ascii_for(char32_t c)
{
  static constexpr std::array<std::pair<char32_t, std::string_view>, 29> likenesses{
      {{U'…', "..."},    {U'→', "->"}, {U'±', "+/-"}, {U'·', "*"},  {U'×', "x"}, {U'²', "^2"},
       {U'λ', "lambda"}, {U'✔', "ok"}, {U'✘', "NO"},  {U'–', "-"},  {U'—', "-"}, {U'−', "-"},
       {U'µ', "u"},      {U'μ', "u"},  {U'“', "\""},  {U'”', "\""}, {U'‘', "'"}, {U'’', "'"},
       {U'≥', ">="},     {U'≤', "<="}, {U'≈', "~"},   {U'─', "-"},  {U'█', "#"}, {U'\u00A0', " "},
       {U'▶', ">"},      {U'◀', "<"},  {U'│', "|"},   {U'✗', "X"},  {U'⋮', ":"}}};
  for (const auto& [code, text] : likenesses)
    if (code == c) return text;
  return "?";
}

/// A number and its unit ("97 %", "2.68 Gb/s") stay on one line.
bool is_unit_of(std::string_view number, std::string_view word)
{
  const bool digit = number.back() >= '0' && number.back() <= '9';
  return digit && (word.front() == '%' || word.find("/s") != std::string_view::npos);
}

} // namespace

CodePoint decode(std::string_view text)
{
  if (text.empty()) return {};
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[i]));
  };
  const char32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  std::size_t length = 0;
  if (lead >= 0xC2 && lead <= 0xDF) length = 2;
  if (lead >= 0xE0 && lead <= 0xEF) length = 3;
  if (lead >= 0xF0 && lead <= 0xF4) length = 4;
  if (length == 0 || text.size() < length) return {replacement, 1};
  char32_t value = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {replacement, 1};
    value = (value << 6) | (byte(i) & 0x3FU);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  if (overlong || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return {replacement, 1};
  return {value, length};
}

void encode(std::string& text, char32_t value)
{
  const auto put = [&](char32_t byte) {
    text += static_cast<char>(static_cast<unsigned char>(byte));
  };
  if (value < 0x80) {
    put(value);
  } else if (value < 0x800) {
    put(0xC0U | (value >> 6));
    put(0x80U | (value & 0x3FU));
  } else if (value < 0x10000) {
    put(0xE0U | (value >> 12));
    put(0x80U | ((value >> 6) & 0x3FU));
    put(0x80U | (value & 0x3FU));
  } else {
    put(0xF0U | (value >> 18));
    put(0x80U | ((value >> 12) & 0x3FU));
    put(0x80U | ((value >> 6) & 0x3FU));
    put(0x80U | (value & 0x3FU));
  }
}

std::size_t display_width(std::string_view text)
{
  std::size_t width = 0;
  while (!text.empty()) {
    if (const std::size_t skip = escape_length(text); skip != 0) {
      text.remove_prefix(skip);
      continue;
    }
    const CodePoint c = decode(text);
    width += columns(c.value);
    text.remove_prefix(c.bytes);
  }
  return width;
}

std::string shorten(std::string_view text, std::size_t width)
{
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  std::string cut;
  std::size_t used = 0;
  while (!text.empty()) {
    const CodePoint c = decode(text);
    if (used + columns(c.value) > width - 1) break;
    used += columns(c.value);
    cut += text.substr(0, c.bytes);
    text.remove_prefix(c.bytes);
  }
  return cut + "…";
}

std::string pad(std::string_view text, std::size_t width, bool right)
{
  const std::size_t used = display_width(text);
  const std::string space(width > used ? width - used : 0, ' ');
  return right ? space + std::string(text) : std::string(text) + space;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width)
{
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (!words.empty() && is_unit_of(words.back(), word))
      words.back().append(" ").append(word);
    else
      words.emplace_back(word);
  }
  std::vector<std::string> lines;
  for (const std::string& word : words) {
    if (!lines.empty() && display_width(lines.back()) + 1 + display_width(word) <= width)
      lines.back().append(" ").append(word);
    else
      lines.push_back(word);
  }
  return lines;
}

std::string to_ascii(std::string_view text)
{
  std::string ascii;
  while (!text.empty()) {
    const CodePoint c = decode(text);
    if (c.value < 0x80)
      ascii += static_cast<char>(c.value);
    else
      ascii += ascii_for(c.value);
    text.remove_prefix(c.bytes);
  }
  return ascii;
}

std::string bar(double share, std::size_t width, bool utf8)
{
  static constexpr std::array<std::string_view, 8> eighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double filled = std::clamp(std::isfinite(share) ? share : 0.0, 0.0, 1.0);
  std::string text;
  std::size_t used = 0;
  if (utf8) {
    const auto units =
        static_cast<std::size_t>(std::lround(filled * static_cast<double>(width) * 8));
    for (; used < units / 8; ++used) text += "█";
    if (units % 8 != 0) {
      text += eighths.at(units % 8);
      ++used;
    }
  } else {
    used = static_cast<std::size_t>(std::lround(filled * static_cast<double>(width)));
    text.assign(used, '#');
  }
  for (; used < width; ++used) text += utf8 ? "·" : ".";
  return text;
}

} // namespace rdmalab::report
