#pragma once

#include "base/result.h"
#include "plan/plan.h"
#include "record/record.h"

#include <atomic>
#include <functional>
#include <string>
#include <vector>

/// Executes a Plan and gives its Record, in this kernel or in guests.
namespace rdmalab::engine {

enum class EngineKind { automatic, host, vm };
enum class ClockKind { automatic, real, virtual_ };

struct Options {
  EngineKind engine = EngineKind::automatic;
  ClockKind clock = ClockKind::automatic;
  unsigned jobs = 0; ///< guests side by side; 0: one a core on the virtual clock, one on the real
  std::uint64_t timeout_ns = 0; ///< wall-clock limit of one cell; 0: ten minutes
  bool snapshot = true;         ///< false: boot every guest
};

/// What is told while it goes on. Called from the one thread.
struct Progress {
  std::function<void(const std::string&)> say = [](const std::string&) {}; ///< one line per phase
  std::function<void(size_t done, size_t total, const record::Cell&)> cell_done =
      [](size_t, size_t, const record::Cell&) {};
};

/// Set from a signal handler to stop a run: exit 130, nothing is left behind.
extern std::atomic<bool> interrupted;

/// Which engine and clock serve here, and why, in one line.
struct Choice {
  EngineKind engine = EngineKind::vm;
  ClockKind clock = ClockKind::virtual_;
  std::string why;
};
/// Errors: exit environment, with the remedy, when nothing fits.
Result<Choice> choose(const Options& options);

/// Runs all cells. Errors: environment, set-up, timeout, guest, interrupted.
Result<record::Record> execute(const plan::Plan& plan, const Options& options,
                               const Progress& progress);

} // namespace rdmalab::engine
