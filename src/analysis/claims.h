#pragma once

#include "analysis/result.h"
#include "record/record.h"

#include <vector>

namespace rdmalab::analysis {

/// Holds the lab's claims against the figures that the result already has. Nothing of it changes
/// the lab's verdict.
std::vector<ClaimResult> judge_claims(const record::Record& record, const Result& result);

/// "confirmed", "contradicted", "left open", "not measurable here".
std::string claim_words(ClaimVerdict verdict);

} // namespace rdmalab::analysis
