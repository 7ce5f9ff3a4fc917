#pragma once

#include "base/result.h"
#include "record/record.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

namespace rdmalab::measure {

/// One host as the CPU ledger has to know it.
struct CpuHost {
  std::string name;              ///< the lab's; "fabric" for the fabric's namespace
  std::uint64_t netns_inode = 0; ///< st_ino of its namespace
  std::vector<pid_t> pids;       ///< its endpoint processes
  std::string rdma_device;       ///< its rxe device, "" if it has none
};

/// What the CPUs did between two readings, exact at every switch: eBPF programs on sched_switch,
/// system calls, softirq and workqueue tracepoints charge each stretch of time to one account.
class CpuLedger {
public:
  static Result<CpuLedger> attach(const std::vector<CpuHost>& hosts);
  /// Totals since attach(): one Cpu per host, in the order given.
  Result<std::vector<record::Cpu>> read() const;
  /// ns of CPU time that were not idle since attach(), all CPUs together.
  Result<std::uint64_t> busy_ns() const;

  CpuLedger(CpuLedger&&) noexcept;
  CpuLedger& operator=(CpuLedger&&) noexcept;
  ~CpuLedger();

private:
  struct State;
  explicit CpuLedger(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace rdmalab::measure
