#include "traffic/endpoint.h"

#include <algorithm>

namespace rdmalab::traffic {

namespace {

std::string merge_outcomes(const std::string& initiator, const std::string& target)
{
  if (target == "ok" || target == initiator) return initiator;
  if (initiator == "ok") return "target: " + target;
  return initiator + "; target: " + target;
}

} // namespace

record::Flow merge(const record::Flow& initiator, const record::Flow& target)
{
  record::Flow flow = initiator;
  flow.outcome = merge_outcomes(initiator.outcome, target.outcome);
  const record::Flow& first = initiator.outcome != "ok" ? initiator : target;
  flow.failed_step = first.failed_step;
  flow.failure = first.failure;
  flow.window_ns = std::max(initiator.window_ns, target.window_ns);
  // Only one of the two saw deliveries, so a sum is that one's figure.
  flow.bytes += target.bytes;
  flow.messages += target.messages;
  flow.total_bytes += target.total_bytes;
  flow.total_messages += target.total_messages;
  flow.checked_messages += target.checked_messages;
  flow.corrupt_messages += target.corrupt_messages;
  if (flow.bytes_per_stream.empty()) flow.bytes_per_stream = target.bytes_per_stream;
  for (const auto& [name, count] : target.completions) flow.completions[name] += count;
  flow.qp_states.insert(target.qp_states.begin(), target.qp_states.end());
  for (const auto& [name, value] : target.tcp_info) flow.tcp_info.emplace(name, value);
  flow.path_mtu = std::max(initiator.path_mtu, target.path_mtu);
  flow.output.insert(target.output.begin(), target.output.end());
  flow.latency.merge(target.latency);
  return flow;
}

} // namespace rdmalab::traffic
