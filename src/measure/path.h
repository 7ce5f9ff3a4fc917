#pragma once

#include "base/result.h"
#include "measure/cpu.h"
#include "record/path.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace rdmalab::measure {

/// The path ledger at one instant, since it was opened: all CPUs together. Indices are those of
/// bpf/path_ledger.h.
struct PathReading {
  CpuReading cpu;                      ///< the same accounts as the CPU ledger's
  std::vector<std::uint64_t> ns;       ///< by slot
  std::vector<std::uint64_t> count;    ///< by host and path_count
  std::vector<std::uint64_t> syscalls; ///< by host and number
  std::vector<std::uint64_t> task_ns;  ///< by host: what the scheduler says of its endpoints
  std::uint64_t interrupts = 0;
  std::uint64_t unbalanced = 0;
};

/// Like CpuLedger, but each host's time is told apart by the stages of a message's path, and calls,
/// copies, wake-ups and packets are counted. Costs more than the CPU ledger, in whose place it is
/// kept.
class PathLedger {
public:
  /// Loads the programs, as CpuLedger::load(). A function that this kernel doesn't have, or won't
  /// let us trace, is no error: see missing().
  static Result<PathLedger> load(bool with_rxe);
  /// Attaches them and opens the books; once.
  Status open(const std::vector<CpuHost>& hosts);

  Result<PathReading> reading() const;
  /// Forgets the frames timed so far: what path_between() says of the wire begins here.
  void restart_wire();
  /// What happened between two readings. A stage with a missing point is absent; its time is in the
  /// stage around it.
  [[nodiscard]] record::Path path_between(const PathReading& begin, const PathReading& end) const;
  /// Functions that could not be traced, such as "rxe_mr_copy".
  [[nodiscard]] const std::vector<std::string>& missing() const;

  PathLedger(PathLedger&&) noexcept;
  PathLedger& operator=(PathLedger&&) noexcept;
  ~PathLedger();

private:
  struct State;
  explicit PathLedger(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace rdmalab::measure
