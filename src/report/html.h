#pragma once

#include "analysis/result.h"

#include <string>

namespace rdmalab::report {

/// The Result as one HTML file: style and an SVG chart inside, no script, nothing fetched.
std::string html(const analysis::Result& result);

} // namespace rdmalab::report
