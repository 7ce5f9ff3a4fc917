#pragma once

#include "analysis/problem.h"
#include "analysis/result.h"
#include "record/record.h"

#include <string>
#include <vector>

/// What the lab's rules did.
namespace rdmalab::analysis {

struct RuleFindings {
  std::vector<RuleResult> rules; ///< in the lab's order
  Problems problems;
};

/// One RuleResult a rule, from all faulted cells together. Problems: a rule that hit nothing though
/// it must, one that must hit all that it matched and did not, and a share that chance brings about
/// once in a million.
RuleFindings judge_rules(const record::Record& record);

} // namespace rdmalab::analysis
