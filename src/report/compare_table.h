#pragma once

#include "analysis/compare.h"
#include "report/style.h"

#include <string>

namespace rdmalab::report {

/// A Comparison for a terminal.
std::string compare_table(const analysis::Comparison& comparison, const Style& style);

} // namespace rdmalab::report
