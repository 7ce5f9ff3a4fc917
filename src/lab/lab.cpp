#include "lab/lab.h"

#include "base/json.h"

namespace rdmalab::lab {

RDMALAB_JSON_ENUM(TrafficKind, {{TrafficKind::verbs, "verbs"},
                                {TrafficKind::tcp, "tcp"},
                                {TrafficKind::command, "command"}})
RDMALAB_JSON_ENUM(VerbsOp,
                  {{VerbsOp::send, "send"}, {VerbsOp::write, "write"}, {VerbsOp::read, "read"}})
RDMALAB_JSON_ENUM(FaultKind, {{FaultKind::loss, "loss"},
                              {FaultKind::burst_loss, "burst-loss"},
                              {FaultKind::delay, "delay"},
                              {FaultKind::jitter, "jitter"},
                              {FaultKind::rate, "rate"},
                              {FaultKind::duplicate, "duplicate"},
                              {FaultKind::reorder, "reorder"},
                              {FaultKind::corrupt, "corrupt"}})
RDMALAB_JSON(LinkShape, rate_bps, delay_ns, queue_packets)
RDMALAB_JSON(Host, name, down, up)
RDMALAB_JSON(Topology, hosts, mtu, offloads)
RDMALAB_JSON(Verbs, op, depth, qps, path_mtu, timeout, retry_count, rnr_retry, min_rnr_timer)
RDMALAB_JSON(Tcp, streams, congestion, nodelay)
RDMALAB_JSON(Command, client, server, files, figure, unit)
RDMALAB_JSON(Traffic, name, kind, from, to, message_bytes, verbs, tcp, command)
RDMALAB_JSON(Fault, name, kind, from, to, rate_ppm, correlation_ppm, p_ppm, r_ppm, bad_loss_ppm,
             good_loss_ppm, delay_ns, jitter_ns, reorder, gap, rate_bps)
RDMALAB_JSON(TraceOptions, on, snap_bytes)
RDMALAB_JSON(Measure, warmup_ns, duration_ns, repeat, path)
RDMALAB_JSON(Expectation, text, line, column)
RDMALAB_JSON(Lab, version, name, hypothesis, description, questions, seed, timeout_ns, topology,
             traffic, groups, faults, rules, trace, measure, expect)

namespace {

template <typename Items>
const typename Items::value_type* named(const Items& items, const std::string& name)
{
  for (const auto& item : items)
    if (item.name == name) return &item;
  return nullptr;
}

bool is_read(const Traffic& traffic)
{
  return traffic.kind == TrafficKind::verbs && traffic.verbs.op == VerbsOp::read;
}

} // namespace

const Traffic* find_traffic(const Lab& lab, const std::string& name)
{
  return named(lab.traffic, name);
}

const Host* find_host(const Lab& lab, const std::string& name)
{
  return named(lab.topology.hosts, name);
}

const std::string& data_source(const Traffic& traffic)
{
  return is_read(traffic) ? traffic.to : traffic.from;
}

const std::string& data_sink(const Traffic& traffic)
{
  return is_read(traffic) ? traffic.from : traffic.to;
}

} // namespace rdmalab::lab
