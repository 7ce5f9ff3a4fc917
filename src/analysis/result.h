#pragma once

#include "analysis/cell_recovery.h"
#include "analysis/stages.h"
#include "base/json_fwd.h"
#include "record/record.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// A Result is what a Record says: retention, CPU, observed loss, verdicts. A passive value: JSON
/// both ways. The keys that DESIGN section 7 names are stable from version 1 on. What doesn't exist
/// is null, never zero or NaN.
namespace rdmalab::analysis {

enum class Verdict { pass, fail, inconclusive, invalid };
RDMALAB_JSON_DECLARE(Verdict)

/// Message latency over all repeats, ns.
struct Latency {
  std::uint64_t median_ns = 0;
  std::uint64_t p99_ns = 0;
  std::uint64_t p999_ns = 0;
  std::uint64_t max_ns = 0;
};
RDMALAB_JSON_DECLARE(Latency)

/// One traffic under one condition: the mean over repeats and its 95 % interval (Student's t), null
/// with one repeat.
struct ConditionResult {
  std::uint64_t goodput_bps = 0; ///< bits/s of application payload
  std::optional<std::uint64_t> low_bps;
  std::optional<std::uint64_t> high_bps;
  std::vector<std::uint64_t> repeats_bps;
  std::optional<Latency> latency;
};
RDMALAB_JSON_DECLARE(ConditionResult)

/// Faulted divided by baseline goodput, of the means, with a 95 % interval over the repeats
/// (statistics.h, ratio_interval), null where it does not exist: one repeat, or nothing delivered
/// in some of them.
struct Retention {
  double value = 0;
  std::optional<double> low;
  std::optional<double> high;
  std::optional<double> predicted; ///< the model's, see analysis/model.h
};
RDMALAB_JSON_DECLARE(Retention)

/// CPU of one host for one traffic under one condition; ns per window, mean over repeats.
struct CpuResult {
  std::uint64_t app_user_ns = 0;
  std::uint64_t app_system_ns = 0;
  std::uint64_t rxe_ns = 0;
  std::uint64_t softirq_ns = 0;
  std::optional<double> seconds_per_gib; ///< of payload; absent when nothing was delivered
  double percent_of_core = 0;
};
RDMALAB_JSON_DECLARE(CpuResult)

/// What held the baseline back.
struct Limit {
  std::string by;                     ///< "link", "window", "core" or "unknown"
  std::uint64_t link_payload_bps = 0; ///< the link's rate less headers, 0: the link has no rate
  std::optional<double> link_share;   ///< baseline goodput / link_payload_bps
  std::optional<double> link_used;    ///< by all traffics that ran together over that link
  std::optional<std::uint64_t> window_bps; ///< bytes that may be in flight / round-trip time
  std::optional<double> core_busy;         ///< share of the window in which the CPU was busy
};
RDMALAB_JSON_DECLARE(Limit)

/// What a program printed of itself under one condition, in the unit of ProgramFigure: the mean
/// over repeats and its 95 % interval (Student's t), null with one repeat.
struct FigureResult {
  double value = 0;
  std::optional<double> low;
  std::optional<double> high;
  std::vector<std::uint64_t> repeats;
};
RDMALAB_JSON_DECLARE(FigureResult)

struct ProgramFigure {
  std::string unit; ///< "bit/s" (and then its goodput is made from it), "ns" or "count"
  std::optional<FigureResult> baseline;
  std::optional<FigureResult> faulted;
};
RDMALAB_JSON_DECLARE(ProgramFigure)

struct TrafficResult {
  std::string name;
  std::string kind;
  std::string from; ///< host
  std::string to;
  std::uint64_t message_bytes = 0; ///< of a program: 0
  std::uint64_t in_flight = 0;     ///< messages; 0: as many as the socket takes, or a program
  std::map<std::string, std::string> options; ///< of its kind, where they are not the defaults
  std::optional<ConditionResult> baseline;
  std::optional<ConditionResult> faulted;
  std::optional<Retention> retention;   ///< null in an invalid Result: no proof, no number
  std::optional<ProgramFigure> figure;  ///< of a program that names one
  std::map<std::string, CpuResult> cpu; ///< by host, in the faulted condition if there is one
  std::map<std::string, CpuResult> cpu_baseline; ///< by host
  std::optional<Limit> limit;
  /// host → counter → sum over faulted repeats (baseline ones if there are no others)
  std::map<std::string, std::map<std::string, std::uint64_t>> counters;
  std::map<std::string, std::uint64_t> completions; ///< work completion status → count
  std::map<std::string, std::uint64_t>
      setup_ns; ///< steps of setting up (record::Flow::setup_ns), mean over all cells; verbs
  std::uint64_t checked_messages = 0;
  std::uint64_t corrupt_messages = 0;
  std::vector<std::string> broke; ///< outcomes of faulted flows that did not end as expected
  std::vector<std::string> ended; ///< outcomes other than "ok" that the lab expects, each once
};
RDMALAB_JSON_DECLARE(TrafficResult)

/// Requested against applied against observed. Shares in ppm of packets; times in ns.
struct FaultResult {
  std::string name;
  std::string kind;
  std::string where;   ///< "client to server", "to server", "from client"
  std::string setting; ///< what was asked for, in words: "1%", "+1ms"
  std::optional<std::uint64_t> requested_ppm;
  std::optional<std::uint64_t> applied_ppm;
  std::optional<std::uint64_t> observed_ppm;
  std::optional<std::uint64_t> observed_low_ppm; ///< 99 % binomial (Wilson) interval
  std::optional<std::uint64_t> observed_high_ppm;
  std::uint64_t packets = 0; ///< that the fault could have hit
  std::uint64_t dropped = 0; ///< or duplicated, reordered, corrupted: hit
  bool consistent = true;    ///< requested equals applied and lies in the observed interval
};
RDMALAB_JSON_DECLARE(FaultResult)

/// What a rule did in all faulted cells. Shares in ppm of the packets that it could hit; the
/// requested one only where dice decide.
struct RuleResult {
  std::string name;
  std::string kind;
  std::string traffic;
  std::string setting; ///< "data 1000, sent the 1st time"
  std::optional<std::uint64_t> requested_ppm;
  std::optional<std::uint64_t> observed_ppm;
  std::optional<std::uint64_t> observed_low_ppm; ///< 99 % binomial (Wilson) interval
  std::optional<std::uint64_t> observed_high_ppm;
  std::uint64_t matched = 0;
  std::uint64_t fired = 0;
  std::uint64_t held = 0; ///< packets that waited to the end for others to pass
  bool consistent = true;
};
RDMALAB_JSON_DECLARE(RuleResult)

struct ExpectationResult {
  std::string text;
  Verdict verdict = Verdict::invalid;
  std::optional<double> value; ///< of the left side
  std::string measured;        ///< the same in words: "107 ms"; "" without a value
  std::string reason;          ///< why it is not a pass
  int line = 0;                ///< in the lab file
};
RDMALAB_JSON_DECLARE(ExpectationResult)

enum class ClaimVerdict { confirmed, contradicted, open, unmeasured };
RDMALAB_JSON_DECLARE(ClaimVerdict)

/// A sentence of the course and what the measurement says of it.
struct ClaimResult {
  std::string claim;
  std::string where; ///< in the course
  std::string holds; ///< the comparison
  ClaimVerdict verdict = ClaimVerdict::open;
  std::string measured; ///< the comparison's left side in words, or why it does not exist
  std::string because;  ///< the lab's own words on it
};
RDMALAB_JSON_DECLARE(ClaimResult)

struct Result {
  std::uint32_t version = 1;
  std::string lab;
  std::string hypothesis;
  Verdict verdict = Verdict::invalid;
  std::string record_digest;
  record::Environment environment;
  record::Timing timing;
  std::vector<TrafficResult> traffic;
  std::vector<FaultResult> faults;
  std::vector<RuleResult> rules;
  std::vector<CellRecovery> recovery; ///< of each cell that was traced, in the plan's order
  std::optional<PathReport> path;     ///< only with `measure: {path: on}`; of the baseline
  std::vector<ExpectationResult> expectations;
  std::vector<ClaimResult> claims;
  std::vector<std::string> conclusion; ///< the lab's own sentences, with their figures
  std::vector<std::string> problems;   ///< why the run is invalid; empty otherwise
  std::vector<std::string> notes;      ///< what a reader has to know: clock, offloads, validity
  int exit_code = 4;                   ///< base/result.h, without --strict
};
RDMALAB_JSON_DECLARE(Result)

} // namespace rdmalab::analysis
