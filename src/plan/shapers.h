#pragma once

#include "base/result.h"
#include "plan/plan.h"

#include <cstdint>
#include <vector>

namespace rdmalab::plan {

/// One netem per host port, and one per ifb where packets from a host are shaped or faulted on
/// their own. Error (usage): faults that contradict one another or that netem can't tell apart.
Result<std::vector<Shaper>> make_shapers(const lab::Lab& lab, const std::vector<HostNode>& hosts);

/// Packets that netem's queue must hold so that it never drops: what the link itself can hold
/// (1.5 times its rate times its longest delay, in smallest packets, bounded to 64 MiB of kernel
/// memory) and what the lab's senders can have in flight, plus 1000.
std::uint32_t queue_limit(const lab::Lab& lab, const Netem& netem);

} // namespace rdmalab::plan
