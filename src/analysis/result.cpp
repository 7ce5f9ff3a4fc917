#include "analysis/result.h"

#include "base/json.h"

namespace rdmalab::analysis {

RDMALAB_JSON_ENUM(Verdict, {{Verdict::pass, "pass"},
                            {Verdict::fail, "fail"},
                            {Verdict::inconclusive, "inconclusive"},
                            {Verdict::invalid, "invalid"}})
RDMALAB_JSON(Latency, median_ns, p99_ns, p999_ns, max_ns)
RDMALAB_JSON(ConditionResult, goodput_bps, low_bps, high_bps, repeats_bps, latency)
RDMALAB_JSON(Retention, value, low, high, predicted)
RDMALAB_JSON(CpuResult, app_user_ns, app_system_ns, rxe_ns, softirq_ns, seconds_per_gib,
             percent_of_core)
RDMALAB_JSON(FigureResult, value, low, high, repeats)
RDMALAB_JSON(ProgramFigure, unit, baseline, faulted)
RDMALAB_JSON(Limit, by, link_payload_bps, link_share, link_used, window_bps, core_busy)
RDMALAB_JSON(TrafficResult, name, kind, from, to, message_bytes, in_flight, options, baseline,
             faulted, retention, figure, cpu, cpu_baseline, limit, counters, completions, setup_ns,
             checked_messages, corrupt_messages, broke, ended)
RDMALAB_JSON(FaultResult, name, kind, where, setting, requested_ppm, applied_ppm, observed_ppm,
             observed_low_ppm, observed_high_ppm, packets, dropped, consistent)
RDMALAB_JSON(RuleResult, name, kind, traffic, setting, requested_ppm, observed_ppm,
             observed_low_ppm, observed_high_ppm, matched, fired, held, consistent)
RDMALAB_JSON(ExpectationResult, text, verdict, value, measured, reason, line)
RDMALAB_JSON_ENUM(ClaimVerdict, {{ClaimVerdict::confirmed, "confirmed"},
                                 {ClaimVerdict::contradicted, "contradicted"},
                                 {ClaimVerdict::open, "open"},
                                 {ClaimVerdict::unmeasured, "unmeasured"}})
RDMALAB_JSON(ClaimResult, claim, where, holds, verdict, measured, because)
RDMALAB_JSON(Result, version, lab, hypothesis, verdict, record_digest, environment, timing, traffic,
             faults, rules, recovery, path, expectations, claims, conclusion, problems, notes,
             exit_code)

} // namespace rdmalab::analysis
