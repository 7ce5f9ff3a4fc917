#include "fault/flow_table.h"

#include "base/random.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <endian.h>
#include <spdlog/fmt/fmt.h>

namespace rdmalab::fault {

namespace {

/// Whether no bucket overflows.
bool fill_buckets(FlowTable& table, std::span<const fault_flow_slot> flows)
{
  table.slots.fill({});
  return std::ranges::all_of(flows, [&table](const fault_flow_slot& flow) {
    const auto bucket = std::span(table.slots)
                            .subspan(fault_flow_bucket(flow.key, table.factor) * FAULT_FLOW_BUCKET,
                                     FAULT_FLOW_BUCKET);
    const auto free = std::ranges::find(bucket, 0, &fault_flow_slot::flow);
    if (free == bucket.end()) return false;
    *free = flow;
    return true;
  });
}

} // namespace

std::uint64_t flow_key(const FlowKey& flow)
{
  const bool tcp = flow.transport == Transport::tcp;
  std::uint32_t identifier = htobe32(flow.destination_qpn);
  if (tcp) identifier = htobe32(std::uint32_t{flow.source_port} << 16U | flow.destination_port);
  return fault_flow_key(flow.from, flow.to, tcp ? 1 : 0, identifier);
}

Result<FlowTable> make_flow_table(std::span<const fault_flow_slot> flows)
{
  std::vector<std::uint64_t> keys;
  for (const fault_flow_slot& flow : flows) keys.push_back(flow.key);
  std::ranges::sort(keys);
  if (std::ranges::adjacent_find(keys) != keys.end())
    return system_error(EEXIST,
                        "tell flows apart: two have the same hosts and queue pair or ports");
  FlowTable table;
  // Nine in ten factors will do for 256 flows.
  for (std::uint64_t attempt = 1; attempt < 10'000; ++attempt) {
    table.factor = mix64(attempt) | 1U;
    if (fill_buckets(table, flows)) return table;
  }
  return system_error(E2BIG, fmt::format("find room for {} flows", flows.size()));
}

} // namespace rdmalab::fault
