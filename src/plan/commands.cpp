#include "plan/commands.h"

#include "base/json.h"
#include "base/units.h"
#include "lab/command_line.h"
#include "plan/planner.h"
#include "plan/traffic_window.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::plan {
namespace {

using units::format_rate;
using units::format_share;
using units::format_time;

/// Collects lines; a phase is a comment with an empty line before it.
class Script {
public:
  template <typename... Args> void line(fmt::format_string<Args...> format, Args&&... args)
  {
    text_ += fmt::format(format, std::forward<Args>(args)...) + '\n';
  }
  void phase(std::string_view title) { text_ += fmt::format("\n# {}. {}\n", ++phases_, title); }
  /// A comment that may be free text of the lab, with line breaks.
  void comment(std::string_view text)
  {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      line("# {}", text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }
  std::string take() { return std::move(text_); }

private:
  std::string text_;
  int phases_ = 0;
};

/// Keeps jittered packets in order on a link without a rate of its own. netem sorts by departure
/// time before a child qdisc sees a packet, so a FIFO child keeps no order; with a rate, however
/// high, each delay counts from the packet before (net/sched/sch_netem.c, netem_enqueue).
constexpr std::string_view order_keeping_rate = "1000tbit";

const Cell* shown_cell(const Plan& plan)
{
  for (const Cell& cell : plan.cells)
    if (cell.condition == Condition::faulted) return &cell;
  return plan.cells.empty() ? nullptr : &plan.cells.front();
}

bool has_ifb(const Plan& plan)
{
  return std::any_of(plan.fabric.shapers.begin(), plan.fabric.shapers.end(),
                     [](const Shaper& s) { return s.up; });
}

std::string modules(const Plan& plan)
{
  std::set<std::string> wanted{"bridge", "sch_netem", "veth"};
  if (has_ifb(plan)) wanted.insert({"act_mirred", "cls_matchall", "ifb", "sch_ingress"});
  for (const lab::Traffic& traffic : plan.lab.traffic) {
    if (over_iwarp(traffic))
      wanted.insert({"ib_uverbs", "rdma_ucm", "siw"});
    else if (traffic.kind != lab::TrafficKind::tcp)
      wanted.insert({"ib_uverbs", "rdma_rxe"});
    else if (traffic.tcp.congestion != "reno" && traffic.tcp.congestion != "cubic")
      wanted.insert("tcp_" + traffic.tcp.congestion);
  }
  return fmt::format("{}", fmt::join(wanted, " "));
}

/// A program may use either, so it gets both.
bool uses_verbs(const Plan& plan)
{
  return std::any_of(plan.lab.traffic.begin(), plan.lab.traffic.end(),
                     [](const auto& t) { return t.kind != lab::TrafficKind::tcp; });
}

void write_namespaces(Script& script, const Fabric& fabric)
{
  script.phase("A namespace for each host, one for the fabric between them");
  script.line("ip netns add {}", fabric.netns);
  for (const HostNode& host : fabric.hosts) {
    script.line("ip netns add {}", host.netns);
    script.line("ip -n {} link set lo up", host.netns);
    script.line("ip netns exec {} sysctl -qw net.ipv6.conf.all.disable_ipv6=1 "
                "net.ipv6.conf.default.disable_ipv6=1",
                host.netns);
  }
  script.line("ip netns exec {} sysctl -qw net.ipv6.conf.all.disable_ipv6=1 "
              "net.ipv6.conf.default.disable_ipv6=1",
              fabric.netns);
  script.line("ip -n {} link add {} type bridge", fabric.netns, fabric.bridge);
  script.line("ip -n {} link set {} mtu {} up", fabric.netns, fabric.bridge, fabric.mtu);
}

void write_cables(Script& script, const Fabric& fabric)
{
  script.phase("A veth cable from each host to a port of the fabric");
  for (const HostNode& host : fabric.hosts) {
    script.line("ip -n {} link add {} mtu {} type veth peer name {} address {} mtu {} netns {}",
                fabric.netns, host.port, fabric.mtu, host.device, host.mac, fabric.mtu, host.netns);
    const std::string_view state = fabric.offloads ? "on" : "off";
    script.line("ip netns exec {} ethtool -K {} tso {} gso {} gro {}", fabric.netns, host.port,
                state, state, state);
    script.line("ip netns exec {} ethtool -K {} tso {} gso {} gro {}", host.netns, host.device,
                state, state, state);
    script.line("ip -n {} link set {} master {} up", fabric.netns, host.port, fabric.bridge);
    script.line("ip -n {} address add {}/24 dev {}", host.netns, host.ip, host.device);
    script.line("ip -n {} link set {} up", host.netns, host.device);
  }
  script.comment("Permanent neighbours: no ARP packet may get lost instead of a payload packet.");
  for (const HostNode& host : fabric.hosts)
    for (const HostNode& peer : fabric.hosts)
      if (peer.name != host.name)
        script.line("ip -n {} neighbour replace {} lladdr {} dev {} nud permanent", host.netns,
                    peer.ip, peer.mac, host.device);
}

void write_rdma(Script& script, const Plan& plan)
{
  script.phase("A Soft-RoCE device on each host's interface");
  for (const HostNode& host : plan.fabric.hosts)
    script.line("ip netns exec {} rdma link add {} type rxe netdev {}", host.netns, host.rdma,
                host.device);
  if (std::ranges::none_of(plan.lab.traffic, lab::over_iwarp)) return;
  script.comment("For iWARP a siw device in its place:");
  for (const HostNode& host : plan.fabric.hosts)
    script.comment(fmt::format("  ip netns exec {} rdma link add {} type siw netdev {}", host.netns,
                               rdma_device(host, "siw"), host.device));
}

void write_netem(Script& script, const Plan& plan, const Shaper& shaper, std::size_t index,
                 std::string_view verb, Netem netem)
{
  if (const Cell* cell = shown_cell(plan)) netem.seed = shaper_seed(*cell, index);
  script.line("tc -n {} qdisc {} dev {} root handle 1: netem {}", plan.fabric.netns, verb,
              shaper.device, netem_arguments(netem));
}

void write_shapers(Script& script, const Plan& plan)
{
  const Fabric& fabric = plan.fabric;
  script.phase("The links: one netem at each port's egress, the last thing before a host");
  script.comment("limit is computed so that the queue itself never drops a packet.");
  for (std::size_t i = 0; i < fabric.shapers.size(); ++i) {
    const Shaper& shaper = fabric.shapers[i];
    if (shaper.up) {
      const auto host = std::find_if(fabric.hosts.begin(), fabric.hosts.end(),
                                     [&](const HostNode& h) { return h.name == shaper.host; });
      script.comment(fmt::format("Packets from {}: netem works at egress only, so they go through "
                                 "an ifb.",
                                 shaper.host));
      script.line("ip -n {} link add {} mtu {} type ifb", fabric.netns, shaper.device, fabric.mtu);
      script.line("ip -n {} link set {} up", fabric.netns, shaper.device);
      script.line("tc -n {} qdisc add dev {} clsact", fabric.netns, host->port);
      script.line("tc -n {} filter add dev {} ingress matchall action mirred egress redirect dev "
                  "{}",
                  fabric.netns, host->port, shaper.device);
    }
    write_netem(script, plan, shaper, i, "add", shaper.unfaulted);
  }
}

const HostNode& node_of(const Fabric& fabric, const std::string& name)
{
  return *std::find_if(fabric.hosts.begin(), fabric.hosts.end(),
                       [&](const HostNode& h) { return h.name == name; });
}

std::string fill_in(const std::string& line, const HostNode& own, const HostNode& peer)
{
  return fmt::format("{}", fmt::join(lab::command_words(line, {own.rdma, own.ip, peer.ip}), " "));
}

/// perftest's tool for an operation, with the options that make it so.
std::string perftest_of(const lab::Verbs& verbs)
{
  switch (verbs.op) {
  case lab::VerbsOp::send:
  case lab::VerbsOp::send_imm:
    return "ib_send_bw";
  case lab::VerbsOp::write:
  case lab::VerbsOp::write_notify:
    return "ib_write_bw";
  case lab::VerbsOp::write_imm:
    return "ib_write_bw --write_with_imm";
  case lab::VerbsOp::read:
    return "ib_read_bw";
  case lab::VerbsOp::fetch_add:
    return "ib_atomic_bw -A FETCH_AND_ADD";
  case lab::VerbsOp::compare_swap:
    return "ib_atomic_bw -A CMP_AND_SWP";
  case lab::VerbsOp::register_memory: // no tool of perftest's does
    break;
  }
  return {};
}

std::string perftest(const lab::Lab& lab, const lab::Traffic& t, std::uint64_t seconds)
{
  std::string tool = perftest_of(t.verbs);
  if (over_iwarp(t)) // connected by rdma_cm; the rest is TCP's
    return tool + fmt::format(" -R -s {} -t {} -q {} -D {} -F", t.message_bytes, t.verbs.depth,
                              t.verbs.qps, seconds);
  tool += fmt::format(" -m {}", ib_mtu(lab, t));
  if (t.verbs.transport != lab::Transport::rc)
    tool += t.verbs.transport == lab::Transport::uc ? " -c UC" : " -c UD";
  if (t.verbs.srq) tool += " --use-srq";
  if (t.verbs.inline_data) tool += fmt::format(" -I {}", t.message_bytes);
  return tool + fmt::format(" -s {} -t {} -q {} -u {} -D {} -F", t.message_bytes, t.verbs.depth,
                            t.verbs.qps, t.verbs.timeout, seconds);
}

/// The public tool that comes nearest; a comment, since rdmalab's own endpoints do the work.
void write_traffic(Script& script, const Plan& plan, std::string_view title)
{
  script.phase(title);
  script.comment("rdmalab sends its own, checked traffic here. Public tools that come near:");
  for (const lab::Traffic& t : plan.lab.traffic) {
    const HostNode& from = node_of(plan.fabric, t.from);
    const HostNode& to = node_of(plan.fabric, t.to);
    if (t.kind == lab::TrafficKind::command) {
      if (!t.command.server.empty())
        script.comment(fmt::format("  {}: ip netns exec {} {} &", t.name, to.netns,
                                   fill_in(t.command.server, to, from)));
      script.comment(fmt::format("  {}: ip netns exec {} {}", t.name, from.netns,
                                 fill_in(t.command.client, from, to)));
      continue;
    }
    const auto seconds = std::max<std::uint64_t>(1, plan.lab.measure.duration_ns / 1'000'000'000);
    if (t.kind == lab::TrafficKind::tcp && t.tcp.depth != 0) {
      script.comment(fmt::format("  {}: ip netns exec {} netserver", t.name, to.netns));
      script.comment(
          fmt::format("  {}: ip netns exec {} netperf -H {} -l {} -t TCP_RR -- -r {},8{}", t.name,
                      from.netns, to.ip, seconds, t.message_bytes,
                      t.tcp.depth > 1 ? fmt::format(" -b {}", t.tcp.depth - 1) : ""));
      continue;
    }
    if (t.kind == lab::TrafficKind::tcp) {
      script.comment(fmt::format("  {}: ip netns exec {} iperf3 -s -1 &", t.name, to.netns));
      script.comment(fmt::format("  {}: ip netns exec {} iperf3 -c {} -P {} -C {} -l {} -t {}{}",
                                 t.name, from.netns, to.ip, t.tcp.streams, t.tcp.congestion,
                                 t.message_bytes, seconds, t.tcp.nodelay ? " -N" : ""));
      continue;
    }
    if (t.verbs.op == lab::VerbsOp::register_memory) {
      script.comment(fmt::format("  {}: ibv_reg_mr and ibv_dereg_mr in turn; no tool", t.name));
      continue;
    }
    const std::string tool = perftest(plan.lab, t, seconds);
    const std::string type = over_iwarp(t) ? "siw" : "rxe";
    script.comment(fmt::format("  {}: ip netns exec {} {} -d {} &", t.name, to.netns, tool,
                               rdma_device(to, type)));
    script.comment(fmt::format("  {}: ip netns exec {} {} -d {} {}", t.name, from.netns, tool,
                               rdma_device(from, type), to.ip));
  }
  script.line("printf 'The lab stands; press Enter to go on. '; read -r _ || true");
}

void write_faults(Script& script, const Plan& plan)
{
  const Fabric& fabric = plan.fabric;
  script.phase("The faults");
  for (std::size_t i = 0; i < fabric.shapers.size(); ++i) {
    const Shaper& shaper = fabric.shapers[i];
    if (shaper.faults.empty()) continue;
    script.comment(fmt::format("{}: packets {} {}", fmt::join(shaper.faults, ", "),
                               shaper.up ? "from" : "to", shaper.host));
    write_netem(script, plan, shaper, i, "change", shaper.faulted);
  }
  for (const lab::Rule& rule : plan.lab.rules)
    script.comment(fmt::format("{}: {} {}'s {}. Only rdmalab's eBPF programs can do that.",
                               rule.name, lab::kind_words(rule.kind), rule.traffic,
                               lab::rule_words(rule)));
}

void write_teardown(Script& script, const Plan& plan)
{
  const Fabric& fabric = plan.fabric;
  script.phase("What was counted; then everything goes away");
  script.line("tc -n {} -s qdisc show", fabric.netns);
  if (uses_verbs(plan)) {
    for (const HostNode& host : fabric.hosts)
      script.line("ip netns exec {} rdma statistic show link {}/1", host.netns, host.rdma);
    for (const HostNode& host : fabric.hosts)
      script.line("ip netns exec {} rdma link delete {}", host.netns, host.rdma);
  }
  for (const HostNode& host : fabric.hosts) script.line("ip netns delete {}", host.netns);
  script.line("ip netns delete {}", fabric.netns);
}

} // namespace

std::string netem_arguments(const Netem& netem)
{
  std::string text = fmt::format("limit {}", netem.limit_packets);
  const auto share = [&](std::string_view name, std::uint64_t ppm, std::uint64_t correlation) {
    if (ppm == 0) return;
    text += fmt::format(" {} {}", name, format_share(ppm));
    if (correlation != 0) text += ' ' + format_share(correlation);
  };
  if (netem.delay_ns != 0 || netem.jitter_ns != 0) {
    text += " delay " + format_time(netem.delay_ns);
    if (netem.jitter_ns != 0) text += ' ' + format_time(netem.jitter_ns);
  }
  if (netem.gilbert_elliott)
    text += fmt::format(" loss gemodel {} {} {} {}", format_share(netem.ge_p_ppm),
                        format_share(netem.ge_r_ppm), format_share(netem.ge_bad_loss_ppm),
                        format_share(netem.ge_good_loss_ppm));
  else
    share("loss random", netem.loss_ppm, netem.loss_correlation_ppm);
  share("corrupt", netem.corrupt_ppm, netem.corrupt_correlation_ppm);
  share("duplicate", netem.duplicate_ppm, netem.duplicate_correlation_ppm);
  share("reorder", netem.reorder_ppm, netem.reorder_correlation_ppm);
  if (netem.reorder_ppm != 0) text += fmt::format(" gap {}", netem.reorder_gap);
  if (netem.rate_bps != 0)
    text += " rate " + format_rate(netem.rate_bps);
  else if (netem.jitter_ns != 0 && netem.keep_order)
    text += fmt::format(" rate {}", order_keeping_rate);
  if (netem.seed != 0) text += fmt::format(" seed {}", netem.seed);
  return text;
}

std::string shell_script(const Plan& plan)
{
  Script script;
  script.line("#!/bin/sh");
  script.comment(fmt::format("Lab {}, by hand. rdmalab itself speaks netlink and runs none of "
                             "these lines.",
                             plan.lab.name));
  script.comment(plan.lab.hypothesis);
  script.comment(
      "Needs root, iproute2 6.6 (netem's seed) and ethtool. Best tried in a virtual machine.");
  if (uses_verbs(plan)) script.comment("Soft-RoCE works in network namespaces from kernel 7.1 on.");
  script.line("set -eu");
  script.line("modprobe -a {}", modules(plan));
  if (uses_verbs(plan))
    script.comment(
        "Each QP may have 64 packets in a receiver's backlog; an overflow there kills it.");
  script.line("sysctl -qw net.core.netdev_max_backlog=100000");

  write_namespaces(script, plan.fabric);
  write_cables(script, plan.fabric);
  if (uses_verbs(plan)) write_rdma(script, plan);
  write_shapers(script, plan);
  write_traffic(script, plan, plan.lab.faultless() ? "Traffic" : "Traffic, unfaulted");
  if (!plan.lab.faultless()) {
    write_faults(script, plan);
    write_traffic(script, plan, "Traffic, faulted");
  }
  write_teardown(script, plan);
  return script.take();
}

} // namespace rdmalab::plan
