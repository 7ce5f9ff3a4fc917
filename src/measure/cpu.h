#pragma once

#include "base/result.h"
#include "record/record.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

namespace rdmalab::measure {

/// One host as the CPU ledger has to know it.
struct CpuHost {
  std::string name;              ///< the lab's; "fabric" for the fabric's namespace
  std::uint64_t netns_inode = 0; ///< st_ino of its namespace
  std::vector<pid_t>
      pids; ///< its endpoint processes; their threads and children follow by themselves
  std::string rdma_device; ///< its rxe device, "" if it has none
};

/// Where all time since attach() went, all CPUs together, ns. The hosts' accounts, idle, interrupt
/// and other add up to elapsed exactly. docs/measures.md defines each account.
struct CpuReading {
  std::vector<record::Cpu> hosts; ///< in the order given to attach()
  std::uint64_t idle_ns = 0;
  std::uint64_t interrupt_ns = 0; ///< hard interrupt handlers
  std::uint64_t other_ns =
      0; ///< other tasks, softirqs without a packet, packets of other namespaces
  std::uint64_t elapsed_ns = 0; ///< CPU time that passed: about `cpus` times the time between
  std::uint32_t cpus = 0;

  [[nodiscard]] std::uint64_t busy_ns() const { return elapsed_ns - idle_ns; }
};

/// What happened between two readings of one ledger.
CpuReading operator-(const CpuReading& later, const CpuReading& earlier);

/// What the CPUs did between two readings, exact at every switch: eBPF programs on sched_switch,
/// system calls, softirq, interrupt and workqueue tracepoints charge each stretch of time to one
/// account.
class CpuLedger {
public:
  /// Loads the programs and opens the books. Endpoints should be waiting in a system call: one that
  /// is in user mode is taken to be in the kernel until its next call. Errors: exit setup, the
  /// verifier's last lines as hint.
  static Result<CpuLedger> attach(const std::vector<CpuHost>& hosts);

  /// attach() in two steps: all that needs no names, some tenths of a second (kernel and module BTF
  /// are read) ...
  static Result<CpuLedger> load(bool with_rxe);
  /// ... and the rest, once.
  Status open(const std::vector<CpuHost>& hosts);

  /// Totals since attach(), up to the instant of the call.
  Result<CpuReading> reading() const;
  /// The hosts of reading() alone: one Cpu per host, in the order given.
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

/// Whether the ledger works here, found out by loading it (with rdma_rxe if that module is in); if
/// not, `why` says what is missing. For `doctor`.
bool cpu_ledger_supported(std::string& why);

} // namespace rdmalab::measure
