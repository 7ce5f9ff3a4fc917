#pragma once

#include "analysis/result.h"

#include <string>

namespace rdmalab::report {

/// The Result as GitHub-flavoured Markdown, for $GITHUB_STEP_SUMMARY and merge-request comments.
std::string markdown(const analysis::Result& result);

} // namespace rdmalab::report
