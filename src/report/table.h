#pragma once

#include "analysis/result.h"
#include "report/style.h"

#include <string>

namespace rdmalab::report {

/// The Result for a terminal: verdict, throughput with a bar per traffic, CPU, faults, limits,
/// latencies, expectations, where it ran, what to know, and one closing sentence. No line is wider
/// than the style's width.
std::string table(const analysis::Result& result, const Style& style);

} // namespace rdmalab::report
