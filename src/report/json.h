#pragma once

#include "analysis/compare.h"
#include "analysis/result.h"

#include <string>

namespace rdmalab::report {

/// One JSON document and a newline; `pretty` indents by two. Text that is no UTF-8 (a kernel's log
/// line) becomes U+FFFD, a figure that is no number null.
std::string json(const analysis::Result& result, bool pretty = true);
std::string json(const analysis::Comparison& comparison, bool pretty = true);

} // namespace rdmalab::report
