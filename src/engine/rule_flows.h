#pragma once

#include "base/result.h"
#include "fault/rule.h"
#include "lab/lab.h"

namespace rdmalab::engine {

/// Which way packets of a rule go: from the traffic's `from` to its `to`, back, or both.
struct Directions {
  bool there = false;
  bool back = false;
};
Directions directions_of(const lab::Rule& rule, const lab::Traffic& traffic);

/// The lab's rule as the programs know it, for one flow of theirs.
fault::Rule to_fault_rule(const lab::Rule& rule, const lab::Traffic& traffic, std::uint16_t flow);

} // namespace rdmalab::engine
