#pragma once

#include "base/result.h"
#include "plan/plan.h"

#include <cstdint>
#include <vector>

namespace rdmalab::plan {

/// The rate that keeps jittered packets in order on a link that has none of its own, bits/s.
/// netem sorts its queue by departure time, before any child qdisc sees a packet, so a FIFO child
/// keeps no order; with a rate it counts each delay from the packet before
/// (net/sched/sch_netem.c, netem_enqueue). 100 Gb/s adds 120 ns to a 1500-byte packet.
inline constexpr std::uint64_t order_keeping_rate_bps = 100'000'000'000;

/// One netem per host port, and one per ifb where packets from a host are shaped or faulted on
/// their own. Error (usage): faults that contradict one another or that netem can't tell apart.
Result<std::vector<Shaper>> make_shapers(const lab::Lab& lab, const std::vector<HostNode>& hosts);

/// Packets that netem's queue must hold so that it never drops: what the link itself can hold
/// (1.5 times its rate times its longest delay, in smallest packets, bounded to 64 MiB of kernel
/// memory) and what the lab's senders can have in flight, plus 1000.
std::uint32_t queue_limit(const lab::Lab& lab, const Netem& netem);

} // namespace rdmalab::plan
