#pragma once

#include "base/result.h"
#include "measure/cpu.h"
#include "measure/path.h"
#include "plan/plan.h"
#include "record/record.h"

#include <functional>
#include <memory>
#include <optional>

namespace rdmalab::engine {

/// What an engine brings along for a cell.
struct CellServices {
  /// Ledgers that are loaded, but not yet open; a cell that finds the one absent that it keeps
  /// loads it itself, which takes some tenths of a second.
  std::optional<measure::CpuLedger> cpu_ledger;
  std::optional<measure::PathLedger> path_ledger;
  /// Called right before the first message is sent.
  std::function<void()> first_packet;
  /// Appended to the names of namespaces and RDMA devices, so that two runs on one host don't meet.
  /// "" in a guest.
  std::string suffix;
};

/// One cell in this kernel: builds the fabric, starts the endpoints, applies the condition,
/// measures. This is the host engine; the vm engine runs it inside its guest. A transport that
/// breaks is no Error but the flow's outcome.
class CellRun {
public:
  static Result<CellRun> execute(const plan::Plan& original, const plan::Cell& cell,
                                 CellServices services);

  [[nodiscard]] const record::Cell& record() const;
  /// Takes the fabric down and says what did not go. The destructor does the same, silently.
  Status teardown();
  /// Leaves all kernel objects where they are: a guest's reset takes them down faster.
  void abandon();

  CellRun(CellRun&&) noexcept;
  CellRun& operator=(CellRun&&) noexcept;
  ~CellRun();

private:
  struct State;
  explicit CellRun(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace rdmalab::engine
