#pragma once

#include "analysis/recovery.h"

#include <cstddef>
#include <span>
#include <vector>

namespace rdmalab::analysis {

/// Of these directions of flows; not empty.
RecoverySummary summarise(std::span<const FlowRecovery* const> flows);
/// Of each traffic, in the report's order.
std::vector<RecoverySummary> summarise(const RecoveryReport& report);

/// The report with at most so many losses and episodes of each direction of a flow, the first ones,
/// and how many were left out: a run at 1 % loss has thousands. The figures stay.
RecoveryReport excerpt(RecoveryReport report, std::size_t most);

} // namespace rdmalab::analysis
