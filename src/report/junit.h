#pragma once

#include "analysis/result.h"

#include <string>
#include <vector>

namespace rdmalab::report {

/// JUnit XML, as Jenkins, GitLab and the GitHub actions read it: one testsuite per lab, one
/// testcase "the run is valid" and one per expectation. An expectation that failed is a failure, an
/// invalid run or expectation an error, an inconclusive one skipped, under `strict` a failure.
std::string junit(const std::vector<analysis::Result>& results, bool strict);

} // namespace rdmalab::report
