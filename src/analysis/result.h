#pragma once

#include "base/json.h"
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
NLOHMANN_JSON_SERIALIZE_ENUM(Verdict, {{Verdict::pass, "pass"},
                                       {Verdict::fail, "fail"},
                                       {Verdict::inconclusive, "inconclusive"},
                                       {Verdict::invalid, "invalid"}})

/// Message latency over all repeats, ns.
struct Latency {
  std::uint64_t median_ns = 0;
  std::uint64_t p99_ns = 0;
  std::uint64_t p999_ns = 0;
  std::uint64_t max_ns = 0;
};
RDMALAB_JSON(Latency, median_ns, p99_ns, p999_ns, max_ns)

/// One traffic under one condition: the mean over repeats and its 95 % interval (Student's t).
struct ConditionResult {
  std::uint64_t goodput_bps = 0; ///< bits/s of application payload
  std::uint64_t low_bps = 0;
  std::uint64_t high_bps = 0;
  std::vector<std::uint64_t> repeats_bps;
  std::optional<Latency> latency;
};
RDMALAB_JSON(ConditionResult, goodput_bps, low_bps, high_bps, repeats_bps, latency)

/// Faulted divided by baseline goodput, of the means, with an interval over the repeats.
struct Retention {
  double value = 0;
  double low = 0;
  double high = 0;
  std::optional<double> predicted; ///< the model's, see analysis/model.h
};
RDMALAB_JSON(Retention, value, low, high, predicted)

/// CPU of one host for one traffic under one condition; ns per window, mean over repeats.
struct CpuResult {
  std::uint64_t app_user_ns = 0;
  std::uint64_t app_system_ns = 0;
  std::uint64_t rxe_ns = 0;
  std::uint64_t softirq_ns = 0;
  std::optional<double> seconds_per_gib; ///< of payload; absent when nothing was delivered
  double percent_of_core = 0;
};
RDMALAB_JSON(CpuResult, app_user_ns, app_system_ns, rxe_ns, softirq_ns, seconds_per_gib,
             percent_of_core)

/// What held the baseline back.
struct Limit {
  std::string by;                     ///< "link", "window", "core" or "unknown"
  std::uint64_t link_payload_bps = 0; ///< the link's rate less headers, 0: the link has no rate
  std::optional<double> link_share;   ///< baseline goodput / link_payload_bps
  std::optional<std::uint64_t> window_bps; ///< bytes that may be in flight / round-trip time
  std::optional<double> core_busy;         ///< share of the window in which the CPU was busy
};
RDMALAB_JSON(Limit, by, link_payload_bps, link_share, window_bps, core_busy)

struct TrafficResult {
  std::string name;
  std::string kind;
  std::optional<ConditionResult> baseline;
  std::optional<ConditionResult> faulted;
  std::optional<Retention> retention;
  std::map<std::string, CpuResult> cpu; ///< by host, in the faulted condition if there is one
  std::map<std::string, CpuResult> cpu_baseline; ///< by host
  std::optional<Limit> limit;
  std::map<std::string, std::map<std::string, std::uint64_t>>
      counters; ///< host → counter → sum over faulted repeats
  std::map<std::string, std::uint64_t> completions; ///< work completion status → count
  std::uint64_t checked_messages = 0;
  std::uint64_t corrupt_messages = 0;
};
RDMALAB_JSON(TrafficResult, name, kind, baseline, faulted, retention, cpu, cpu_baseline, limit,
             counters, completions, checked_messages, corrupt_messages)

/// Requested against applied against observed. Shares in ppm of packets; times in ns.
struct FaultResult {
  std::string name;
  std::string kind;
  std::optional<std::uint64_t> requested_ppm;
  std::optional<std::uint64_t> applied_ppm;
  std::optional<std::uint64_t> observed_ppm;
  std::optional<std::uint64_t> observed_low_ppm; ///< 99 % binomial (Wilson) interval
  std::optional<std::uint64_t> observed_high_ppm;
  std::uint64_t packets = 0; ///< that the fault could have hit
  std::uint64_t dropped = 0; ///< or duplicated, reordered, corrupted: hit
  bool consistent = true;    ///< requested equals applied and lies in the observed interval
};
RDMALAB_JSON(FaultResult, name, kind, requested_ppm, applied_ppm, observed_ppm, observed_low_ppm,
             observed_high_ppm, packets, dropped, consistent)

struct ExpectationResult {
  std::string text;
  Verdict verdict = Verdict::invalid;
  std::optional<double> value; ///< of the left side
  std::string reason;          ///< why inconclusive or invalid
};
RDMALAB_JSON(ExpectationResult, text, verdict, value, reason)

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
  std::vector<ExpectationResult> expectations;
  std::vector<std::string> problems; ///< why the run is invalid; empty otherwise
  std::vector<std::string>
      notes; ///< what a reader has to know: clock, offloads, window of validity
};
RDMALAB_JSON(Result, version, lab, hypothesis, verdict, record_digest, environment, timing, traffic,
             faults, expectations, problems, notes)

} // namespace rdmalab::analysis
