#include "analysis/cell_recovery.h"

#include "analysis/samples.h"
#include "analysis/timeline.h"
#include "analysis/wire_rate.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/wide.h"
#include "wire/trace_file.h"

#include <algorithm>

namespace rdmalab::analysis {

RDMALAB_JSON(TcpWitness, traffic, kernel_again, kernel_timeouts, traced_again, traced_timeouts)
RDMALAB_JSON(CellRecovery, cell, report, summaries, ladder, tcp, script)

namespace {

/// Losses and episodes that the Result lists of a flow; the figures are of all.
constexpr std::size_t most_listed = 200;

std::uint32_t mtu_in_force(const record::Cell& cell, const std::string& traffic)
{
  for (const record::Flow& flow : cell.flows)
    if (flow.traffic == traffic) return flow.path_mtu;
  return 0;
}

std::vector<TcpWitness> witnesses(const record::Cell& cell, const RecoveryReport& report)
{
  std::vector<TcpWitness> all;
  for (const record::Flow& flow : cell.flows) {
    const auto again = flow.tcp_info.find("retransmits");
    if (again == flow.tcp_info.end()) continue;
    TcpWitness witness{flow.traffic, again->second, {}, 0, 0};
    if (const auto rto = flow.tcp_info.find("rto_events"); rto != flow.tcp_info.end())
      witness.kernel_timeouts = rto->second;
    for (const FlowRecovery& f : report.flows) {
      if (f.traffic != flow.traffic) continue;
      witness.traced_again += f.packets_again;
      for (const Episode& e : f.episodes)
        witness.traced_timeouts += static_cast<std::uint64_t>(std::ranges::count_if(
            e.rounds, [](const Round& r) { return r.trigger == Trigger::rto; }));
    }
    all.push_back(std::move(witness));
  }
  return all;
}

} // namespace

TraceFlows trace_flows(const record::Record& record, const record::Cell& cell)
{
  TraceFlows flows;
  flows.begin_ns = record.lab.measure.warmup_ns;
  flows.end_ns = flows.begin_ns + record.lab.measure.duration_ns;
  for (const record::Impairment& i : cell.impairments)
    flows.netem_drops = flows.netem_drops || i.applied.loss_ppm != 0 || i.applied.gilbert_elliott;
  for (const record::Stream& stream : cell.streams) {
    const lab::Traffic* traffic = find_traffic(record.lab, stream.traffic);
    if (traffic == nullptr) continue;
    const std::uint32_t mtu = mtu_in_force(cell, stream.traffic);
    if (const lab::Host* sink = find_host(record.lab, data_sink(*traffic)))
      flows.link_bps = sink->down.rate_bps;
    const WireCost cost = wire_cost(*traffic, packet_payload(record.lab, *traffic, mtu));
    if (cost.wire_bytes != 0)
      flows.link_payload_ppm =
          static_cast<std::uint32_t>(Wide{cost.payload_bytes} * 1'000'000 / cost.wire_bytes);
    if (rides_on_tcp(*traffic))
      flows.tcp.push_back(
          {stream.traffic, stream.index, stream.from, stream.to, stream.from_port, stream.to_port});
    else if (traffic->verbs.transport == lab::Transport::rc) // nothing else recovers
      flows.verbs.push_back({stream.traffic, stream.index, stream.from, stream.to, stream.from_qp,
                             stream.to_qp, stream.from_psn, stream.to_psn, mtu,
                             traffic->verbs.timeout == 0
                                 ? 0
                                 : std::uint64_t{4096} << std::min(traffic->verbs.timeout, 31U)});
  }
  return flows;
}

rdmalab::Result<std::optional<CellRecovery>> recovery_of(const record::Record& record,
                                                         const record::Cell& cell)
{
  if (cell.trace.empty()) return std::optional<CellRecovery>{};
  const std::string what = "the trace of " + cell.id;
  if (sha256(cell.trace) != cell.trace_info.digest)
    return usage_error("read " + what + ": it is not the one that the Record names");
  TRY_ASSIGN(const wire::Trace trace, wire::read_trace(cell.trace, what));
  const TraceFlows flows = trace_flows(record, cell);
  CellRecovery found;
  found.cell = cell.id;
  const Timelines timelines = sort_trace(trace, flows);
  found.report = analyse_recovery(trace, flows, timelines);
  found.summaries = summarise(found.report);
  found.tcp = witnesses(cell, found.report);
  if (const auto telling = telling_episode(found.report))
    found.ladder =
        episode_sequence(trace, flows, timelines, found.report, telling->first, telling->second);
  if (cell.condition == (record.lab.faultless() ? baseline : faulted))
    found.script = follow_events(record.lab, cell, trace, flows, timelines);
  found.report = excerpt(std::move(found.report), most_listed);
  return std::optional<CellRecovery>(std::move(found));
}

} // namespace rdmalab::analysis
