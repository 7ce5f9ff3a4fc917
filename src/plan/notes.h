#pragma once

#include "plan/plan.h"

#include <string>
#include <vector>

namespace rdmalab::plan {

/// What a reader has to know about a plan before believing its figures, a sentence each: link and
/// window limits of each traffic, what a time-out costs, how few losses a window will see.
std::vector<std::string> notes(const Plan& plan);

} // namespace rdmalab::plan
