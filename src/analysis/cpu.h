#pragma once

#include "analysis/result.h"
#include "analysis/samples.h"

#include <map>
#include <string>
#include <vector>

namespace rdmalab::analysis {

/// CPU per host for one traffic under one condition: ns per window, mean over repeats. What ran
/// together in a cell can't be told apart, so cells of several traffics give each of them the whole
/// cell's CPU, divided by the whole cell's payload.
std::map<std::string, CpuResult> cpu_of(const std::vector<Sample>& samples);

} // namespace rdmalab::analysis
