#pragma once

#include "base/result.h"
#include "fault/programs.h"
#include "net/fabric.h"
#include "plan/plan.h"
#include "record/record.h"
#include "traffic/endpoint.h"

#include <optional>
#include <vector>

namespace rdmalab::engine {

/// A lab's rules and trace in one cell: the fault programs at the fabric, from before the first
/// connection until all is quiet again. A cell without rules and trace has none.
class CellFaults {
public:
  /// Loads and attaches the programs. They are in the baseline's way, too, so that both conditions
  /// pay for them alike.
  static Result<std::optional<CellFaults>> attach(const plan::Plan& plan, const plan::Cell& cell,
                                                  const net::Fabric& fabric);

  /// What arm() may take.
  static constexpr std::uint64_t arm_ns = 50'000'000;
  /// The two ends of one traffic, both ready.
  struct Ends {
    const lab::Traffic* traffic = nullptr;
    const traffic::Endpoint* from = nullptr;
    const traffic::Endpoint* to = nullptr;
  };
  /// Tells the programs whose packets are whose, and begins at `start_ns` (CLOCK_MONOTONIC).
  Status arm(const std::vector<Ends>& ends, std::uint64_t start_ns);

  /// Ends it and fills in streams, rules, firings, packets and the trace, which finish_trace()
  /// decodes. Nothing may be on its way any more. What does not add up becomes a problem of the
  /// cell.
  Status fill_in(record::Cell& record);

private:
  /// One rule of the lab becomes one of the programs for each stream and direction that it names.
  struct Armed {
    std::size_t rule = 0; ///< index into the lab's rules
    std::size_t flow = 0;
  };

  CellFaults(const plan::Plan& plan, const plan::Cell& cell, fault::Programs programs)
      : lab_(plan.lab), cell_(cell), programs_(std::move(programs))
  {}
  Status arm_rules();
  void fill_in_rules(record::Cell& record, const fault::Ledger& ledger) const;
  void fill_in_packets(record::Cell& record, const fault::Ledger& ledger) const;
  Status put_trace(record::Cell& record);

  lab::Lab lab_;
  plan::Cell cell_;
  fault::Programs programs_;
  std::vector<std::string> hosts_;
  std::vector<record::Stream> streams_;
  std::vector<fault::FlowKey> flows_; ///< two a stream: there and back
  std::vector<Armed> armed_;
};

} // namespace rdmalab::engine
