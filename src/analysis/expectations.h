#pragma once

#include "analysis/problem.h"
#include "analysis/result.h"
#include "record/record.h"

#include <optional>
#include <string>
#include <vector>

namespace rdmalab::analysis {

/// Judges the lab's expectations by the figures that the result already has (traffic, faults). An
/// interval that lies wholly on the right side passes, wholly on the wrong side fails, astride is
/// inconclusive; where there is no interval (one repeat) the value alone decides. A figure that
/// does not exist makes the expectation invalid.
std::vector<ExpectationResult> judge_expectations(const record::Record& record,
                                                  const Result& result);

/// One comparison, judged in the same way.
ExpectationResult judge_comparison(const record::Record& record, const Result& result,
                                   const lab::Expectation& comparison);

/// The lab's events as one more expectation, by the scripts that the result already has: a pass if
/// in each cell all were met. Nothing if the lab has none.
std::optional<ExpectationResult> judge_events(const record::Record& record, const Result& result);

/// Does an expectation or an event ask how this traffic's work ended? Then a broken flow is what
/// the lab is about.
bool foresees_breaking(const lab::Lab& lab, const std::string& traffic);

} // namespace rdmalab::analysis
