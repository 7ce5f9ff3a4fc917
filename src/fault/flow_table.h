#pragma once

#include "base/result.h"
#include "fault.h"
#include "fault/flow.h"

#include <array>
#include <cstdint>
#include <span>

namespace rdmalab::fault {

/// A table in which a flow is found by one multiplication and a look at four slots at most.
struct FlowTable {
  std::uint64_t factor = 1;
  std::array<fault_flow_slot, std::size_t{FAULT_FLOW_BUCKETS} * FAULT_FLOW_BUCKET> slots{};
};

/// What the programs look a flow up by.
std::uint64_t flow_key(const FlowKey& flow);

/// EEXIST for two of the same key, E2BIG for more than fit.
Result<FlowTable> make_flow_table(std::span<const fault_flow_slot> flows);

} // namespace rdmalab::fault
