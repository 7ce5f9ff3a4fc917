#pragma once

#include "plan/plan.h"

#include <string>

namespace rdmalab::plan {

/// A netem's parameters as tc(8) takes them after "netem": "limit 1000 delay 20us loss random 1%".
/// Seed 0 is left out, as is what does nothing.
std::string netem_arguments(const Netem& netem);

/// The plan as a shell script of ip, tc, rdma, ethtool and sysctl lines with a comment for each
/// phase, for reading and for running by hand. rdmalab itself speaks netlink and runs none of them.
/// The seeds are those of the first faulted cell (of the first cell if none is faulted).
std::string shell_script(const Plan& plan);

} // namespace rdmalab::plan
