#pragma once

#include "analysis/events.h"
#include "analysis/recovery.h"
#include "analysis/recovery_summary.h"
#include "analysis/sequence.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "record/record.h"

#include <optional>
#include <string>
#include <vector>

/// What the trace of one cell says.
namespace rdmalab::analysis {

struct CellRecovery {
  std::string cell; ///< its id
  RecoveryReport report;
  std::vector<RecoverySummary> summaries; ///< of each traffic
  std::optional<Sequence> ladder;         ///< the recovery that tells most
  std::optional<ScriptResult> script;     ///< the lab's events, where they are looked for
};
RDMALAB_JSON_DECLARE(CellRecovery)

/// What the engine knows of the cell's flows, as the trace is read by.
TraceFlows trace_flows(const record::Record& record, const record::Cell& cell);

/// Nothing for a cell without a trace; an Error for a trace that can't be read, or that is not the
/// one that the Record names.
Result<std::optional<CellRecovery>> recovery_of(const record::Record& record,
                                                const record::Cell& cell);

} // namespace rdmalab::analysis
