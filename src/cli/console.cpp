#include "cli/console.h"

#include "base/json.h"

#include <cstdlib>
#include <iostream>
#include <utility>

#include <sys/ioctl.h>
#include <unistd.h>

namespace rdmalab::cli {

void print_error(Context& context, const Error& error)
{
  context.err << "error: " << error.message() << '\n';
  if (!error.hint.empty()) context.err << "hint: " << error.hint << '\n';
}

Json error_json(const Error& error)
{
  Error bare = error;
  bare.where.clear();
  Json json{{"exit", static_cast<int>(error.exit)}, {"message", bare.message()}};
  if (!error.where.empty()) json["where"] = error.where;
  if (!error.hint.empty()) json["hint"] = error.hint;
  return json;
}

void print_json(Context& context, const Json& json)
{
  // A file name need not be UTF-8, JSON must be.
  context.out << to_text(json, 2) << '\n';
}

report::Style stdout_style(const Context& context)
{
  const bool terminal = &context.out == &std::cout && isatty(STDOUT_FILENO) == 1;
  winsize size{};
  const bool known = terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return report::style_of(terminal, known ? size.ws_col : 0,
                          [](const char* name) -> const char* { return std::getenv(name); });
}

} // namespace rdmalab::cli
