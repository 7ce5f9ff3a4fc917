#pragma once

#include "analysis/result.h"

#include <string>

namespace rdmalab::report {

/// What the figures say, in a few plain sentences: what was kept or delivered, what a message and
/// its bytes cost, how many traffics failed as they should, and what became of the course's claims.
/// "With loss of 1% (client to server) roce kept 28 % of its throughput and tcp 97 %." Says of an
/// invalid Result only that.
std::string closing_paragraph(const analysis::Result& result);

} // namespace rdmalab::report
