#include "lab/diagnostic.h"

#include <algorithm>
#include <tuple>

namespace rdmalab::lab {

std::string Diagnostic::where() const
{
  if (line == 0) return file;
  return file + ":" + std::to_string(line) + ":" + std::to_string(column);
}

Error Diagnostic::error() const
{
  return {Exit::usage, message, 0, hint, where()};
}

void Diagnostics::add(int line, int column, std::string message, std::string hint)
{
  list_.push_back({file_, line, column, std::move(message), std::move(hint)});
}

std::vector<Diagnostic> Diagnostics::take()
{
  std::stable_sort(list_.begin(), list_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  return std::move(list_);
}

} // namespace rdmalab::lab
