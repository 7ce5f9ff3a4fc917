#include "lab/lab.h"

#include "base/json.h"
#include "lab/operation.h"

#include <algorithm>

namespace rdmalab::lab {

RDMALAB_JSON_ENUM(TrafficKind, {{TrafficKind::verbs, "verbs"},
                                {TrafficKind::tcp, "tcp"},
                                {TrafficKind::command, "command"}})
RDMALAB_JSON_ENUM(VerbsOp, {{VerbsOp::send, "send"},
                            {VerbsOp::send_imm, "send-imm"},
                            {VerbsOp::write, "write"},
                            {VerbsOp::write_imm, "write-imm"},
                            {VerbsOp::write_notify, "write-notify"},
                            {VerbsOp::read, "read"},
                            {VerbsOp::fetch_add, "fetch-add"},
                            {VerbsOp::compare_swap, "compare-swap"},
                            {VerbsOp::register_memory, "register"}})
RDMALAB_JSON_ENUM(Transport, {{Transport::rc, "rc"},
                              {Transport::uc, "uc"},
                              {Transport::ud, "ud"},
                              {Transport::iwarp, "iwarp"}})
RDMALAB_JSON_ENUM(Connect, {{Connect::tcp, "tcp"}, {Connect::cm, "cm"}})
RDMALAB_JSON_ENUM(Replenish, {{Replenish::at_once, "at-once"},
                              {Replenish::never, "never"},
                              {Replenish::after, "after"}})
RDMALAB_JSON_ENUM(Mistake, {{Mistake::none, "none"},
                            {Mistake::wrong_rkey, "wrong-rkey"},
                            {Mistake::no_remote_access, "no-remote-access"},
                            {Mistake::deregistered, "deregistered"},
                            {Mistake::not_registered, "not-registered"},
                            {Mistake::out_of_bounds, "out-of-bounds"},
                            {Mistake::long_send, "long-send"},
                            {Mistake::qp_no_access, "qp-no-access"},
                            {Mistake::misaligned_atomic, "misaligned-atomic"},
                            {Mistake::qp_reset, "qp-reset"},
                            {Mistake::qp_init, "qp-init"},
                            {Mistake::qp_rtr, "qp-rtr"},
                            {Mistake::qp_error, "qp-error"},
                            {Mistake::no_exchange, "no-exchange"}})
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
RDMALAB_JSON(Verbs, op, transport, connect, inline_data, srq, depth, signal_every, qps, path_mtu,
             timeout, retry_count, rnr_retry, min_rnr_timer, messages, receives, replenish,
             replenish_ns, mistake)
RDMALAB_JSON(Tcp, streams, congestion, nodelay, depth, zerocopy)
RDMALAB_JSON(Command, client, server, files, figure, unit)
RDMALAB_JSON(Traffic, name, kind, from, to, message_bytes, verbs, tcp, command, ends)
RDMALAB_JSON(Fault, name, kind, from, to, rate_ppm, correlation_ppm, p_ppm, r_ppm, bad_loss_ppm,
             good_loss_ppm, delay_ns, jitter_ns, reorder, gap, rate_bps)
RDMALAB_JSON(TraceOptions, on, snap_bytes)
RDMALAB_JSON(Measure, warmup_ns, duration_ns, repeat, path)
RDMALAB_JSON(Expectation, text, line, column)
RDMALAB_JSON(Claim, claim, where, holds, because, line, column)
RDMALAB_JSON(Sweep, fault, rates_ppm)
RDMALAB_JSON(Lab, version, name, hypothesis, description, questions, seed, timeout_ns, topology,
             traffic, groups, faults, rules, trace, events, measure, expect, claims, conclusion,
             sweep)

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
  return traffic.kind == TrafficKind::verbs && operation_of(traffic.verbs.op).reads;
}

} // namespace

const Traffic* find_traffic(const Lab& lab, const std::string& name)
{
  return named(lab.traffic, name);
}

bool has_path(const Lab& lab, const std::vector<std::string>& group)
{
  if (!lab.measure.path || group.size() != 1) return false;
  const Traffic* traffic = find_traffic(lab, group.front());
  return traffic != nullptr && traffic->kind != TrafficKind::command;
}

const Host* find_host(const Lab& lab, const std::string& name)
{
  return named(lab.topology.hosts, name);
}

bool over_iwarp(const Traffic& traffic)
{
  return traffic.kind == TrafficKind::verbs && traffic.verbs.transport == Transport::iwarp;
}

bool rides_on_tcp(const Traffic& traffic)
{
  return traffic.kind == TrafficKind::tcp || over_iwarp(traffic);
}

bool reliable(const Verbs& verbs)
{
  return verbs.transport == Transport::rc || verbs.transport == Transport::iwarp;
}

std::uint32_t signal_every_of(const Verbs& verbs)
{
  if (verbs.signal_every != 0) return verbs.signal_every;
  // SEND's latency is the target's to measure, so its initiator need not wake up for each; for
  // WRITE and READ the completion is the delivery, and each has its own.
  return operation_of(verbs.op).receives ? std::max(1U, verbs.depth / 4) : 1;
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
