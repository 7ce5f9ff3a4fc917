#pragma once

#include "base/result.h"

#include <string>
#include <utility>
#include <vector>

namespace rdmalab::analysis {

/// Why a run proves nothing, and the exit status that says so without --strict.
struct Problem {
  Exit exit = Exit::setup;
  std::string text;
};
using Problems = std::vector<Problem>;

inline void append(Problems& to, Problems from)
{
  for (Problem& p : from) to.push_back(std::move(p));
}

} // namespace rdmalab::analysis
