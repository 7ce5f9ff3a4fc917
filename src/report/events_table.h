#pragma once

#include "analysis/result.h"
#include "report/style.h"

#include <string>

namespace rdmalab::report {

/// The events of one cell, each with the packet that met it: of the first cell in which one was not
/// met, otherwise of the first. Empty without events.
std::string events_table(const analysis::Result& result, const Style& style);

} // namespace rdmalab::report
