#pragma once

#include "cli/command.h"
#include "record/record.h"

#include <cstddef>
#include <string>

namespace rdmalab::cli {

/// How far a run is, on stderr: a bar that is drawn again on a terminal, one plain line per phase
/// elsewhere, nothing with --quiet.
class ProgressLine {
public:
  ProgressLine(Context& context, std::string lab);
  void say(const std::string& text);
  void cell_done(std::size_t done, std::size_t total, const record::Cell& cell);
  /// Takes the bar away.
  void finish();
  ~ProgressLine();

private:
  void clear();
  Context& context_;
  std::string lab_;
  bool terminal_ = false;
  bool drawn_ = false;
};

} // namespace rdmalab::cli
