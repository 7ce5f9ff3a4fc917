#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace rdmalab::lab {

/// One thing wrong with a lab file. Line and column count from 1; 0: the file as a whole.
struct Diagnostic {
  std::string file;
  int line = 0;
  int column = 0;
  std::string message;
  std::string hint;

  /// "file:line:column"
  [[nodiscard]] std::string where() const;
  /// The same as an Error of exit code 2.
  [[nodiscard]] Error error() const;
};

/// Collects what is wrong with one file.
class Diagnostics {
public:
  explicit Diagnostics(std::string file) : file_(std::move(file)) {}

  void add(int line, int column, std::string message, std::string hint = {});
  /// At anything with `line` and `column`: a Node.
  template <typename Place> void add(const Place& at, std::string message, std::string hint = {})
  {
    add(at.line, at.column, std::move(message), std::move(hint));
  }
  [[nodiscard]] bool empty() const { return list_.empty(); }
  [[nodiscard]] std::size_t size() const { return list_.size(); }
  /// All of them, in the file's order.
  [[nodiscard]] std::vector<Diagnostic> take();

private:
  std::string file_;
  std::vector<Diagnostic> list_;
};

} // namespace rdmalab::lab
