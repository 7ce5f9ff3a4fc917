#pragma once

#include "analysis/result.h"
#include "record/record.h"

#include <string>
#include <vector>

namespace rdmalab::analysis {

/// The lab's own sentences with the figures that the result already has. A sentence that lacks a
/// figure is left out: its place in the tables says why.
std::vector<std::string> conclude(const record::Record& record, const Result& result);

} // namespace rdmalab::analysis
