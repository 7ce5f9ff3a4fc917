#pragma once

#include "analysis/problem.h"
#include "base/json_fwd.h"
#include "record/record.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// The ordinary path, counted: what the path ledger says a message costs, stage by stage. It is
/// kept in cells of its own; the baseline, which runs without it, says what it costs.
/// docs/measures.md tells what each figure is.
namespace rdmalab::analysis {

/// The stages in the order of a message's way down and up.
const std::vector<std::string>& stage_names();

/// One host's cost for one traffic. Figures per message are means over the windows of all repeats;
/// ns are instructions on the virtual clock.
struct HostPath {
  std::string host;
  double cpu_ns = 0;                      ///< per message, in the baseline: without this ledger
  double traced_ns = 0;                   ///< per message with it: the sum of the stages
  std::map<std::string, double> stage_ns; ///< per message; a stage that can't be seen is absent
  std::map<std::string, double> stage_percent; ///< of traced_ns
  std::map<std::string, double> syscalls;      ///< per message, by name
  double syscalls_all = 0;
  double copies = 0;    ///< of payload between user memory and the kernel's, per message
  double copied = 0;    ///< bytes copied for each byte of payload
  double checksums = 0; ///< ICRCs, per message
  double wakeups = 0;
  double switches = 0;
  double softirqs = 0;
  double packets_in = 0;
  double packets_out = 0;
  std::optional<double> against_scheduler; ///< the book's time of endpoints / the scheduler's
};
RDMALAB_JSON_DECLARE(HostPath)

/// Frames that carry this traffic's payload, between the two hosts' ports.
struct WireTime {
  std::string to;
  std::uint64_t frames = 0; ///< timed
  double frame_bytes = 0;   ///< of one
  double min_ns = 0;        ///< of the fastest, which found the way free
  double mean_ns = 0;       ///< with queueing
  double expected_ns = 0;   ///< by the lab: frame over rate, and delay
};
RDMALAB_JSON_DECLARE(WireTime)

struct TrafficPath {
  std::string traffic;
  std::string transport; ///< "tcp", "rdma write", "rdma send", "rdma read"
  std::uint64_t message_bytes = 0;
  std::uint64_t messages = 0;    ///< delivered in the windows
  double goodput_bps = 0;        ///< of the baseline
  double traced_goodput_bps = 0; ///< with the path ledger
  std::vector<HostPath> hosts;
  double interrupts = 0; ///< hard interrupts of the machine, per message
  std::optional<WireTime> wire;
};
RDMALAB_JSON_DECLARE(TrafficPath)

/// Cost of a message = per message + per byte × size, fitted over traffics that differ in size
/// only. Least squares of relative errors (weights 1 / cost²): every size counts alike.
struct CostFit {
  std::vector<std::string> traffics;
  std::string transport;
  std::string host;
  double message_ns = 0;
  double message_error = 0; ///< standard error
  double byte_ns = 0;
  double byte_error = 0;
  double r2 = 0;
};
RDMALAB_JSON_DECLARE(CostFit)

struct PathReport {
  std::vector<TrafficPath> traffic;
  std::vector<CostFit> fits;        ///< of three sizes and more
  std::vector<std::string> missing; ///< functions that this kernel would not let us trace
};
RDMALAB_JSON_DECLARE(PathReport)

/// Absent if no cell kept a path ledger. Traffics that ran together, and programs, have no
/// path: whose message it was can't be told.
std::optional<PathReport> path_report(const record::Record& record);

/// What makes a path ledger unfit: stages that don't add up to the host's CPU time within 5 %, an
/// endpoint's time that differs from the scheduler's by more than 5 % of the host's CPU time, more
/// than 1 % of the borders lost.
Problems judge_paths(const record::Record& record);

/// y = a + b x by least squares with weights 1 / y²; absent for less than three different x or a
/// y that is not positive.
struct Line {
  double a = 0;
  double a_error = 0;
  double b = 0;
  double b_error = 0;
  double r2 = 0;
};
std::optional<Line> fit_line(const std::vector<double>& x, const std::vector<double>& y);

} // namespace rdmalab::analysis
