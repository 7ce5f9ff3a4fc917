#pragma once

#include "analysis/result.h"

#include <string>
#include <vector>

namespace rdmalab::report {

/// How long each step of setting up took, where a lab asks for it by setup(): a table of texts,
/// "-" for a step that a traffic doesn't have. No rows: nobody asked.
struct SetupRows {
  std::vector<std::string> heading; ///< the traffic's column first
  std::vector<std::vector<std::string>> rows;
};

SetupRows setup_rows(const analysis::Result& result);

} // namespace rdmalab::report
