#pragma once

#include "fault.h"
#include "fault/flow.h"

#include <cstddef>
#include <span>
#include <vector>

namespace rdmalab::fault {

/// Of each flow, the packets that a rule could act on or count at its port: kinds, from and to. The
/// rest is left to the caller.
std::vector<fault_flow> reach_rules(std::span<const fault_rule> rules,
                                    std::span<const FlowKey> flows);

/// For each host's port the rules that can match there, in the lab's order, and what they need to
/// know of each packet. `ifindex` is left to the caller.
std::vector<fault_port> place_rules(std::span<const fault_rule> rules,
                                    std::span<const FlowKey> flows, std::size_t hosts);

} // namespace rdmalab::fault
