#pragma once

#include "analysis/events.h"
#include "analysis/recovery.h"
#include "analysis/recovery_summary.h"
#include "analysis/sequence.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "record/record.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What the trace of one cell says.
namespace rdmalab::analysis {

/// What the sender's kernel says of its retransmissions (TCP_INFO, when the window ended) beside
/// what the trace shows to its end.
struct TcpWitness {
  std::string traffic;
  std::uint64_t kernel_again = 0;               ///< segments, tcpi_total_retrans
  std::optional<std::uint64_t> kernel_timeouts; ///< tcpi_total_rto; null: this kernel has no such
  std::uint64_t traced_again = 0;
  std::uint64_t traced_timeouts = 0;
};
RDMALAB_JSON_DECLARE(TcpWitness)

struct CellRecovery {
  std::string cell; ///< its id
  RecoveryReport report;
  std::vector<RecoverySummary> summaries; ///< of each traffic
  std::optional<Sequence> ladder;         ///< the recovery that tells most
  std::vector<TcpWitness> tcp;
  std::optional<ScriptResult> script; ///< the lab's events, where they are looked for
};
RDMALAB_JSON_DECLARE(CellRecovery)

/// What the engine knows of the cell's flows, as the trace is read by.
TraceFlows trace_flows(const record::Record& record, const record::Cell& cell);

/// Nothing for a cell without a trace; an Error for a trace that can't be read, or that is not the
/// one that the Record names.
Result<std::optional<CellRecovery>> recovery_of(const record::Record& record,
                                                const record::Cell& cell);

} // namespace rdmalab::analysis
