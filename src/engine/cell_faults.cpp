#include "engine/cell_faults.h"

#include "base/random.h"
#include "engine/cell_trace.h"
#include "engine/rule_flows.h"

#include <algorithm>
#include <map>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::engine {
namespace {

constexpr std::size_t most_firings = 4096;
/// A guest's core moves some 100 000 small packets a second; each is recorded twice.
constexpr std::uint64_t records_a_second = 400'000;
constexpr std::uint64_t least_trace_bytes = 64ULL << 20;
constexpr std::uint64_t most_trace_bytes = 256ULL << 20; // of a guest's memory of 1 GiB, twice

/// Room for all packets of the cell at the core's full rate, as far as memory allows.
std::uint64_t trace_bytes(const lab::Lab& lab)
{
  if (!lab.trace.on) return 0;
  const std::uint64_t ns = lab.measure.warmup_ns + lab.measure.duration_ns;
  const std::uint64_t records = ns / 1000 * records_a_second / 1'000'000;
  return std::clamp(records * fault::trace_record_bytes(lab.trace.snap_bytes), least_trace_bytes,
                    most_trace_bytes);
}

/// The same in every run of a lab, whatever else it has.
std::uint64_t identity_of(const std::string& traffic, std::uint32_t stream, bool back)
{
  std::uint64_t identity = stream * 2U + (back ? 1U : 0U);
  for (const char c : traffic) identity = mix64(identity, static_cast<unsigned char>(c));
  return identity;
}

} // namespace

Result<std::optional<CellFaults>> CellFaults::attach(const plan::Plan& plan, const plan::Cell& cell,
                                                     const net::Fabric& fabric)
{
  if (plan.lab.rules.empty() && !plan.lab.trace.on) return std::optional<CellFaults>{};
  fault::Options options;
  options.trace_bytes = trace_bytes(plan.lab);
  options.snap = plan.lab.trace.snap_bytes;
  TRY_ASSIGN(fault::Programs programs, fault::Programs::load(options));

  // An ifb behind a port's ingress is fed by a filter there.
  const bool filters_follow = std::any_of(plan.fabric.shapers.begin(), plan.fabric.shapers.end(),
                                          [](const plan::Shaper& s) { return s.up; });
  std::vector<fault::Port> ports;
  std::vector<std::string> hosts;
  for (const plan::HostNode& host : plan.fabric.hosts) {
    const auto address = wire::parse_ip(host.ip);
    if (!address) return Error{Exit::setup, "read address " + host.ip, 0, {}, {}};
    ports.push_back({host.name,
                     fabric.port_index(host.name),
                     fabric.netns_path(host.name),
                     fabric.device_index(host.name),
                     {*address},
                     filters_follow});
    hosts.push_back(host.name);
  }
  TRY(programs.attach(fabric.fabric_path(), ports));
  CellFaults made(plan, cell, std::move(programs));
  made.hosts_ = std::move(hosts);
  return std::optional<CellFaults>(std::move(made));
}

Status CellFaults::arm(const std::vector<Ends>& ends, std::uint64_t start_ns)
{
  const auto host = [&](const std::string& name) {
    return static_cast<std::uint8_t>(std::find(hosts_.begin(), hosts_.end(), name) -
                                     hosts_.begin());
  };
  for (const Ends& pair : ends) {
    const lab::Traffic& traffic = *pair.traffic;
    const std::size_t count = std::min(pair.from->streams().size(), pair.to->streams().size());
    for (std::uint32_t i = 0; i < count; ++i) {
      const traffic::StreamId& from = pair.from->streams()[i];
      const traffic::StreamId& to = pair.to->streams()[i];
      streams_.push_back({traffic.name, i, traffic.from, traffic.to, from.qp_number, to.qp_number,
                          from.first_psn, to.first_psn, from.port, to.port});
      fault::FlowKey there;
      there.name = fmt::format("{}/{}", traffic.name, i);
      there.transport = rides_on_tcp(traffic) ? fault::Transport::tcp : fault::Transport::roce;
      there.from = host(traffic.from);
      there.to = host(traffic.to);
      there.destination_qpn = to.qp_number;
      there.first_psn = from.first_psn;
      there.source_port = from.port;
      there.destination_port = to.port;
      there.identity = identity_of(traffic.name, i, false);
      there.ordinal = std::uint64_t{2} * i;
      fault::FlowKey back = there;
      back.name += " back";
      std::swap(back.from, back.to);
      std::swap(back.source_port, back.destination_port);
      back.destination_qpn = from.qp_number;
      back.identity = identity_of(traffic.name, i, true);
      back.ordinal = there.ordinal + 1;
      flows_.push_back(std::move(there));
      flows_.push_back(std::move(back));
    }
  }
  TRY(programs_.set_flows(flows_));
  TRY(arm_rules());
  return programs_.arm(start_ns, lab_.trace.on);
}

Status CellFaults::arm_rules()
{
  if (cell_.condition != plan::Condition::faulted) return {};
  std::vector<fault::Rule> rules;
  for (std::size_t i = 0; i < lab_.rules.size(); ++i) {
    const lab::Rule& rule = lab_.rules[i];
    const lab::Traffic* traffic = find_traffic(lab_, rule.traffic);
    if (traffic == nullptr) continue;
    const Directions ways = directions_of(rule, *traffic);
    for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
      if (streams_[stream].traffic != rule.traffic) continue;
      if (rule.stream && *rule.stream != streams_[stream].index) continue;
      for (const bool back : {false, true}) {
        if (!(back ? ways.back : ways.there)) continue;
        const std::size_t flow = stream * 2 + (back ? 1 : 0);
        rules.push_back(to_fault_rule(rule, *traffic, static_cast<std::uint16_t>(flow)));
        rules.back().name = fmt::format("{}/{}", rule.name, flow);
        armed_.push_back({i, flow});
      }
    }
  }
  return programs_.set_rules(rules, cell_.seed);
}

void CellFaults::fill_in_rules(record::Cell& record, const fault::Ledger& ledger) const
{
  if (cell_.condition != plan::Condition::faulted) return;
  for (std::size_t i = 0; i < lab_.rules.size(); ++i) {
    const lab::Rule& rule = lab_.rules[i];
    if (std::find(cell_.traffic.begin(), cell_.traffic.end(), rule.traffic) == cell_.traffic.end())
      continue;
    record::RuleCount count;
    count.rule = rule.name;
    for (std::size_t k = 0; k < armed_.size(); ++k) {
      if (armed_[k].rule != i) continue;
      const fault::RuleCounts& counts = ledger.rules.at(k);
      count.matched += counts.matched;
      count.fired += counts.fired;
      if (counts.failed != 0)
        record.problems.push_back(fmt::format("rule {}: the kernel refused its action {} times",
                                              rule.name, counts.failed));
      if (counts.unknown_flow != 0)
        record.problems.push_back(fmt::format("rule {}: {} packets belonged to no known stream",
                                              rule.name, counts.unknown_flow));
      for (const fault::RuleEffect& effect : ledger.effects)
        if (effect.rule == k) count.held += effect.held_at_end;
    }
    record.rules.push_back(count);
  }
  for (const fault::Firing& firing : ledger.firings) {
    if (record.firings.size() == most_firings) break;
    const Armed& armed = armed_.at(firing.rule);
    record.firings.push_back({lab_.rules[armed.rule].name, firing.time_ns,
                              static_cast<std::uint32_t>(armed.flow / 2),
                              std::string(fault::to_string(firing.kind)), firing.relative,
                              firing.transmission, firing.wire_length});
  }
}

void CellFaults::fill_in_packets(record::Cell& record, const fault::Ledger& ledger) const
{
  for (std::size_t from = 0; from < hosts_.size(); ++from)
    for (std::size_t to = 0; to < hosts_.size(); ++to)
      for (std::size_t k = 0; k < fault::packet_kinds; ++k) {
        const auto kind = static_cast<fault::PacketKind>(k);
        const fault::PacketCounts& counts = ledger.at(from, to, kind);
        if (counts == fault::PacketCounts{}) continue;
        record::ClassCount count{
            hosts_[from],  hosts_[to],    std::string(fault::to_string(kind)), counts.sent, 0, 0,
            counts.passed, counts.arrived};
        for (const fault::RuleEffect& effect : ledger.effects)
          if (effect.from == from && effect.to == to && effect.kind == kind) {
            count.dropped += effect.dropped;
            count.duplicated += effect.duplicated;
          }
        record.packets.push_back(std::move(count));
      }
  std::vector<fault::NetemCounts> netems;
  for (const record::Impairment& i : record.impairments) {
    const auto host = std::find(hosts_.begin(), hosts_.end(), i.host) - hosts_.begin();
    netems.push_back({static_cast<std::uint8_t>(host), i.up, i.dropped + i.overflowed, i.duplicated,
                      i.corrupted});
  }
  for (std::string& text : fault::check_sums(ledger, netems))
    record.problems.push_back("the ledger does not close: " + std::move(text));
  if (ledger.lost_updates != 0)
    record.problems.push_back(
        fmt::format("the ledger lost {} updates for want of room", ledger.lost_updates));
}

Status CellFaults::put_trace(record::Cell& record)
{
  TRY_ASSIGN(const fault::RawTrace raw, programs_.raw_trace());
  TraceAbout about{lab_.name + " " + record.id, hosts_, {}, {}};
  for (const lab::Rule& rule : lab_.rules) about.rules.push_back(rule.name);
  // The programs' rules are the lab's, once for each flow.
  for (const Armed& armed : armed_) about.rule_of.push_back(static_cast<std::uint16_t>(armed.rule));
  put_raw_trace(record, about, raw);
  return {};
}

Status CellFaults::fill_in(record::Cell& record)
{
  programs_.disarm();
  record.streams = streams_;
  TRY_ASSIGN(const fault::Ledger ledger, programs_.ledger());
  fill_in_rules(record, ledger);
  fill_in_packets(record, ledger);
  if (lab_.trace.on) TRY(put_trace(record));
  return {};
}

} // namespace rdmalab::engine
