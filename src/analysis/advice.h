#pragma once

#include "analysis/result.h"
#include "base/json_fwd.h"

#include <string>
#include <vector>

/// The course's advice (lessons 5 and 6), given where a result's figures ask for it.
namespace rdmalab::analysis {

struct Advice {
  std::string advice;
  std::string where; ///< in the course
  std::string why;   ///< the figures behind it
};
RDMALAB_JSON_DECLARE(Advice)

/// None for an invalid result: no proof, no advice.
std::vector<Advice> advise(const Result& result);

} // namespace rdmalab::analysis
