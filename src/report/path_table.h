#pragma once

#include "analysis/stages.h"
#include "report/style.h"

#include <string>
#include <vector>

/// The ordinary path, stage by stage, for the terminal and for Markdown.
namespace rdmalab::report {

/// One table: the first `words` columns are text, the rest figures.
struct PathGrid {
  std::vector<std::string> heading;
  std::size_t words = 2;
  std::vector<std::vector<std::string>> rows;
};

/// Share of CPU by stage; counts for each message; cost per message and per byte; the wire. A stage
/// that nothing passed is "none", one that could not be seen "?".
std::vector<PathGrid> path_grids(const analysis::PathReport& report);

/// What the tables show, in words: what is bypassed, what rxe does in software, what the ledger
/// cost.
std::vector<std::string> path_sentences(const analysis::PathReport& report);

/// All of it for the terminal; begins with an empty line.
std::string path_table(const analysis::PathReport& report, const Style& style);

} // namespace rdmalab::report
