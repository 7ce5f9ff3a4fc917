#include "analysis/limit.h"

#include "analysis/model.h"
#include "analysis/path.h"
#include "analysis/samples.h"
#include "analysis/statistics.h"
#include "analysis/wire_rate.h"

#include <algorithm>
#include <cmath>

namespace rdmalab::analysis {
namespace {

std::uint64_t link_payload(const record::Record& record, const lab::Traffic& traffic,
                           std::uint32_t in_force)
{
  const std::uint64_t rate =
      path_between(record.lab, data_source(traffic), data_sink(traffic)).rate_bps;
  return payload_rate_bps(rate, wire_cost(traffic, packet_payload(record.lab, traffic, in_force)));
}

/// Share of the link in use by all flows of the cell that go the same way as the traffic.
double link_used(const record::Record& record, const lab::Traffic& traffic,
                 const record::Cell& cell)
{
  double used = 0;
  for (const record::Flow& flow : cell.flows) {
    const lab::Traffic* other = find_traffic(record.lab, flow.traffic);
    if (other == nullptr || data_source(*other) != data_source(traffic) ||
        data_sink(*other) != data_sink(traffic))
      continue;
    const auto rate = link_payload(record, *other, flow.path_mtu);
    if (rate != 0) used += goodput_bps({&cell, &flow}) / static_cast<double>(rate);
  }
  return used;
}

/// Bytes that all QPs or streams may have in flight, divided by the round trip, bits/s. Unknown for
/// TCP without a depth, whose window tunes itself.
std::optional<std::uint64_t> window_bps(const lab::Lab& lab, const lab::Traffic& traffic,
                                        std::uint32_t payload)
{
  const bool verbs = traffic.kind == lab::TrafficKind::verbs;
  if (!verbs && (traffic.kind != lab::TrafficKind::tcp || traffic.tcp.depth == 0))
    return std::nullopt;
  const WireCost message = wire_cost(traffic, payload);
  const std::uint64_t rtt = round_trip_ns(lab, traffic, message.wire_bytes / message.packets);
  if (rtt == 0) return std::nullopt;
  std::uint64_t bytes = (verbs ? traffic.verbs.depth * std::uint64_t{traffic.verbs.qps}
                               : traffic.tcp.depth * std::uint64_t{traffic.tcp.streams}) *
                        traffic.message_bytes;
  if (!rides_on_tcp(traffic))
    bytes =
        std::min(bytes, packets_in_flight(traffic, message.packets) * payload * traffic.verbs.qps);
  return static_cast<std::uint64_t>(static_cast<double>(bytes) * 8e9 / static_cast<double>(rtt));
}

/// Of all CPUs together, so on several CPUs one that is busy alone does not show.
double busy_share(const record::Cell& cell)
{
  const double available =
      static_cast<double>(cell.window_ns) * static_cast<double>(std::max(cell.cpus, 1U));
  if (available <= 0) return 0;
  return std::min(1.0, static_cast<double>(cell.busy_ns) / available);
}

} // namespace

std::optional<Limit> limit_of(const record::Record& record, const lab::Traffic& traffic)
{
  const auto samples = samples_of(record, traffic.name, baseline);
  if (samples.empty()) return std::nullopt;
  const std::uint32_t payload = packet_payload(record.lab, traffic, payload_in_force(samples));
  const double goodput = mean(goodputs(samples));

  std::vector<double> used;
  std::vector<double> busy;
  for (const Sample& s : samples) {
    used.push_back(link_used(record, traffic, *s.cell));
    busy.push_back(busy_share(*s.cell));
  }

  Limit limit;
  limit.by = "unknown";
  limit.link_payload_bps = link_payload(record, traffic, payload);
  if (limit.link_payload_bps != 0) {
    limit.link_share = rounded(goodput / static_cast<double>(limit.link_payload_bps));
    limit.link_used = rounded(mean(used));
  }
  limit.window_bps = window_bps(record.lab, traffic, payload);
  limit.core_busy = rounded(mean(busy));

  const auto near = [&](std::uint64_t bps) {
    return bps != 0 && std::abs(goodput / static_cast<double>(bps) - 1) <= window_tolerance;
  };
  if (limit.link_used.value_or(0) >= link_limited)
    limit.by = "link";
  else if (limit.core_busy.value_or(0) >= core_limited)
    limit.by = "core";
  else if (limit.window_bps && near(*limit.window_bps))
    limit.by = "window";
  return limit;
}

} // namespace rdmalab::analysis
