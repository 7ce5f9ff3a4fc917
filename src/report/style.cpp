#include "report/style.h"

#include <algorithm>
#include <cctype>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::report {
namespace {

constexpr std::size_t widest = 100;
constexpr std::size_t narrowest = 40;

std::string first_set(const Env& env, std::initializer_list<const char*> names)
{
  for (const char* name : names)
    if (const char* value = env(name); value != nullptr && *value != '\0') return value;
  return {};
}

bool names_utf8(std::string locale)
{
  std::transform(locale.begin(), locale.end(), locale.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
}

} // namespace

Style style_of(bool terminal, std::size_t columns, const Env& env)
{
  Style style;
  style.utf8 = names_utf8(first_set(env, {"LC_ALL", "LC_CTYPE", "LANG"}));
  style.colour =
      terminal && first_set(env, {"NO_COLOR"}).empty() && first_set(env, {"TERM"}) != "dumb";
  if (columns != 0) style.width = std::clamp(columns, narrowest, widest);
  return style;
}

std::string paint(const Style& style, Tone tone, std::string_view text)
{
  if (!style.colour || tone == Tone::plain || text.empty()) return std::string(text);
  int code = 1;
  switch (tone) {
  case Tone::good:
    code = 32;
    break;
  case Tone::bad:
    code = 31;
    break;
  case Tone::doubtful:
    code = 33;
    break;
  case Tone::faint:
    code = 2;
    break;
  case Tone::strong:
  case Tone::plain:
    break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

} // namespace rdmalab::report
