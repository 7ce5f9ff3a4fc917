#pragma once

#include "base/result.h"
#include "plan/plan.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace rdmalab::plan {

/// Decides every name, address, qdisc parameter and seed of a Lab. Pure: the same Lab gives the
/// same Plan. Error (usage): more hosts than a /24 holds, a traffic or fault whose host isn't in
/// the lab, a group of an unknown traffic, faults that can't be combined (plan/shapers.h).
Result<Plan> make_plan(const lab::Lab& lab);

/// The seed of the plan's shaper number `index` in a cell: each netem draws from its own stream,
/// and cells of the same repeat from the same ones, whatever their traffic.
std::uint64_t shaper_seed(const Cell& cell, std::size_t index);

/// The type of the RDMA links of a cell's hosts: "siw" where its traffic is iWARP, else "rxe".
std::string rdma_type(const lab::Lab& lab, const Cell& cell);
/// The host's RDMA device where its links are of that type: "rxe0", "siw0".
std::string rdma_device(const HostNode& host, const std::string& type);

} // namespace rdmalab::plan
