#include "engine/cell.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/random.h"
#include "base/wide.h"
#include "engine/cell_faults.h"
#include "engine/kernel_log.h"
#include "net/fabric.h"
#include "plan/planner.h"
#include "traffic/endpoint.h"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::engine {
namespace {

constexpr std::uint64_t ready_timeout_ns = 30 * second_ns;
constexpr std::uint16_t first_port = 18515;
constexpr std::uint64_t ahead_ns = 2'000'000; ///< of the traffic, for a reading of the ledger

/// The plan with names of its own for one cell of one run: namespaces and RDMA devices are seen by
/// the whole kernel.
plan::Plan renamed(plan::Plan plan, const std::string& type, const std::string& suffix)
{
  plan.fabric.netns += suffix;
  for (plan::HostNode& host : plan.fabric.hosts) {
    host.netns += suffix;
    if (host.rdma.empty()) continue;
    host.rdma = plan::rdma_device(host, type) + suffix;
  }
  return plan;
}

net::FabricSpec fabric_spec(const plan::Fabric& fabric, const std::string& rdma_type)
{
  net::FabricSpec spec;
  spec.netns = fabric.netns;
  spec.bridge = fabric.bridge;
  spec.mtu = fabric.mtu;
  spec.offloads = fabric.offloads;
  for (const plan::HostNode& h : fabric.hosts)
    spec.hosts.push_back({h.name, h.netns, h.device, h.port, h.rdma, h.mac, h.ip, 24, rdma_type});
  for (const plan::Shaper& s : fabric.shapers)
    spec.shapers.push_back({s.host, s.up, s.device, s.unfaulted, s.faulted});
  return spec;
}

Result<plan::HostNode> host_named(const plan::Plan& plan, const std::string& name)
{
  for (const plan::HostNode& host : plan.fabric.hosts)
    if (host.name == name) return host;
  return Error{Exit::setup, "find host " + name + " in the plan", 0, {}, {}};
}

/// Memory in which a receiver keeps messages until they are checked: for all that its link can
/// carry from start to stop and a tenth more, but all receivers of a cell share a quarter of the
/// guest.
std::uint64_t ring_bytes(const plan::Plan& plan, const plan::Cell& cell,
                         const std::string& receiver)
{
  constexpr std::uint64_t most = 256U << 20;
  const lab::Measure& measure = plan.lab.measure;
  std::uint64_t expected = UINT64_MAX;
  for (const plan::Shaper& shaper : plan.fabric.shapers)
    if (shaper.host == receiver && !shaper.up && shaper.unfaulted.rate_bps != 0)
      expected = (measure.warmup_ns + measure.duration_ns) / 1000 *
                 (shaper.unfaulted.rate_bps / 8'000'000 + 1) * 11 / 10;
  return std::min(expected, most / cell.traffic.size());
}

/// The two ends of one traffic.
struct Pair {
  traffic::Endpoint target;
  traffic::Endpoint initiator;
};

Result<Pair> spawn_pair(const plan::Plan& plan, const plan::Cell& cell, const lab::Traffic& traffic,
                        const net::Fabric& fabric, std::uint16_t port)
{
  TRY_ASSIGN(const plan::HostNode from, host_named(plan, traffic.from));
  TRY_ASSIGN(const plan::HostNode to, host_named(plan, traffic.to));
  traffic::EndpointSpec spec;
  spec.traffic = traffic;
  spec.port = port;
  spec.seed = mix64(cell.seed, port);
  spec.ring_bytes = ring_bytes(plan, cell, data_sink(traffic));
  spec.ready_timeout_ns = ready_timeout_ns;

  spec.role = traffic::Role::target;
  spec.netns_path = fabric.netns_path(to.name);
  spec.rdma_device = to.rdma;
  spec.local_ip = to.ip;
  spec.peer_ip = from.ip;
  TRY_ASSIGN(traffic::Endpoint target, traffic::Endpoint::spawn(spec));

  spec.role = traffic::Role::initiator;
  spec.netns_path = fabric.netns_path(from.name);
  spec.rdma_device = from.rdma;
  spec.local_ip = from.ip;
  spec.peer_ip = to.ip;
  TRY_ASSIGN(traffic::Endpoint initiator, traffic::Endpoint::spawn(spec));
  return Pair{std::move(target), std::move(initiator)};
}

std::map<std::string, std::uint64_t> difference(const std::map<std::string, std::uint64_t>& later,
                                                const std::map<std::string, std::uint64_t>& earlier)
{
  std::map<std::string, std::uint64_t> result;
  for (const auto& [name, value] : later) {
    const auto before = earlier.find(name);
    result[name] = value - (before == earlier.end() ? 0 : before->second);
  }
  return result;
}

/// The ledger of a cell: one of the two.
struct Books {
  measure::CpuLedger* cpu = nullptr;
  measure::PathLedger* path = nullptr;
};

Result<Books> open_books(CellServices& services, bool path,
                         const std::vector<measure::CpuHost>& accounts)
{
  Books books;
  if (path) {
    if (!services.path_ledger) {
      TRY_ASSIGN(services.path_ledger, measure::PathLedger::load(true));
    }
    books.path = &*services.path_ledger;
    TRY(books.path->open(accounts));
  } else {
    if (!services.cpu_ledger) {
      TRY_ASSIGN(services.cpu_ledger, measure::CpuLedger::load(true));
    }
    books.cpu = &*services.cpu_ledger;
    TRY(books.cpu->open(accounts));
  }
  return books;
}

/// All counters and the ledger at one instant.
struct Reading {
  std::vector<net::HostCounters> counters;
  measure::CpuReading cpu;
  std::optional<measure::PathReading> path;
};

Status read_cpu(const Books& books, Reading& reading)
{
  if (books.path != nullptr) {
    TRY_ASSIGN(reading.path, books.path->reading());
    reading.cpu = reading.path->cpu;
  } else {
    TRY_ASSIGN(reading.cpu, books.cpu->reading());
  }
  return {};
}

Result<std::vector<net::HostCounters>> read_counters(const plan::Plan& plan, net::Fabric& fabric)
{
  std::vector<net::HostCounters> all;
  for (const plan::HostNode& host : plan.fabric.hosts) {
    TRY_ASSIGN(net::HostCounters counters, fabric.counters(host.name));
    all.push_back(std::move(counters));
  }
  return all;
}

void fill_in(record::Cell& record, const plan::Plan& plan, const Reading& begin, const Reading& end)
{
  const measure::CpuReading cpu = end.cpu - begin.cpu;
  record.cpu = cpu.hosts;
  record.cpus = cpu.cpus;
  record.busy_ns = cpu.busy_ns();
  record.window_ns = cpu.elapsed_ns / std::max(cpu.cpus, 1U);
  for (size_t i = 0; i < plan.fabric.hosts.size(); ++i)
    record.counters.push_back({plan.fabric.hosts[i].name,
                               difference(end.counters[i].rdma, begin.counters[i].rdma),
                               difference(end.counters[i].device, begin.counters[i].device)});
}

/// A program says how fast it was, not for how long: its flow claims all of its run. What crossed
/// the fabric tells the part that it carried traffic. Headers are counted as payload then.
void bound_by_counters(record::Cell& record)
{
  if (record.flows.size() != 1) return; // whose packets they were can't be told
  record::Flow& flow = record.flows.front();
  std::uint64_t crossed = 0;
  for (const record::Counters& host : record.counters)
    if (const auto bytes = host.device.find("rx_bytes"); bytes != host.device.end())
      crossed = std::max(crossed, bytes->second);
  if (flow.bytes <= crossed) return;
  flow.window_ns = static_cast<std::uint64_t>(Wide{flow.window_ns} * crossed / flow.bytes);
  flow.bytes = flow.total_bytes = crossed;
}

Status fill_in_impairments(record::Cell& record, net::Fabric& fabric,
                           const std::vector<net::AppliedNetem>& applied)
{
  TRY_ASSIGN(const auto counts, fabric.impairment_stats());
  for (size_t i = 0; i < counts.size(); ++i) {
    const net::ImpairmentCounts& c = counts[i];
    record.impairments.push_back({c.host, c.up, applied[i].requested, applied[i].applied,
                                  applied[i].as_requested, c.packets, c.bytes, c.dropped,
                                  c.overflowed, c.duplicated, c.reordered, c.corrupted, c.delayed,
                                  c.exact});
  }
  return {};
}

/// Until the last FIN has gone where it was meant to go: sums close only then.
Status wait_until_quiet(net::Fabric& fabric)
{
  constexpr std::uint64_t rest_ns = 20'000'000;
  constexpr int patience = 500; // the longest link delay is 10 s
  for (int i = 0; i < patience; ++i) {
    sleep_until_ns(monotonic_ns() + rest_ns);
    TRY_ASSIGN(const auto counts, fabric.impairment_stats());
    if (i > 1 && std::all_of(counts.begin(), counts.end(),
                             [](const net::ImpairmentCounts& c) { return c.queued == 0; }))
      return {};
  }
  return Error{Exit::timeout, "wait until the fabric is quiet", 0, {}, {}};
}

} // namespace

struct CellRun::State {
  record::Cell record;
  std::optional<net::Fabric> fabric;
  std::vector<Pair> pairs; ///< after the fabric: the endpoints die before their namespaces
};

CellRun::CellRun(std::unique_ptr<State> state) : state_(std::move(state)) {}
CellRun::CellRun(CellRun&&) noexcept = default;
CellRun& CellRun::operator=(CellRun&&) noexcept = default;
CellRun::~CellRun() = default;

const record::Cell& CellRun::record() const
{
  return state_->record;
}

Status CellRun::teardown()
{
  state_->pairs.clear();
  return state_->fabric->teardown();
}

void CellRun::abandon()
{
  (void)state_.release();
}

Result<CellRun> CellRun::execute(const plan::Plan& original, const plan::Cell& cell,
                                 CellServices services)
{
  const std::string rdma_type = plan::rdma_type(original.lab, cell);
  const plan::Plan plan = renamed(original, rdma_type, services.suffix);
  auto state = std::make_unique<State>();
  record::Cell& record = state->record;
  record.id = cell.id;
  record.traffic = cell.traffic;
  record.condition = Json(cell.condition).get<std::string>();
  record.repeat = cell.repeat;
  record.seed = cell.seed;

  const std::uint64_t deadline = monotonic_ns() + plan.lab.timeout_ns;
  const auto at_most = [deadline](std::uint64_t ns) { // that much, or what the lab's limit leaves
    const std::uint64_t now = monotonic_ns();
    return now >= deadline ? std::uint64_t{0} : std::min(ns, deadline - now);
  };
  TRY_ASSIGN(KernelLog log, KernelLog::open());
  TRY_ASSIGN(state->fabric, net::Fabric::build(fabric_spec(plan.fabric, rdma_type)));
  net::Fabric& fabric = *state->fabric;
  record.offloads = fabric.offloads();
  TRY_ASSIGN(std::optional<CellFaults> faults, CellFaults::attach(plan, cell, fabric));

  std::vector<const lab::Traffic*> traffics;
  for (const std::string& name : cell.traffic)
    for (const lab::Traffic& traffic : plan.lab.traffic)
      if (traffic.name == name) {
        const auto port = static_cast<std::uint16_t>(first_port + traffics.size());
        TRY_ASSIGN(Pair pair, spawn_pair(plan, cell, traffic, fabric, port));
        state->pairs.push_back(std::move(pair));
        traffics.push_back(&traffic);
      }

  std::vector<measure::CpuHost> accounts;
  for (const plan::HostNode& host : plan.fabric.hosts) {
    measure::CpuHost account{
        host.name, fabric.netns_inode(host.name), {}, rdma_type == "rxe" ? host.rdma : ""};
    for (const Pair& pair : state->pairs)
      for (const traffic::Endpoint* end : {&pair.initiator, &pair.target})
        if (end->spec().local_ip == host.ip) account.pids.push_back(end->pid());
    accounts.push_back(std::move(account));
  }
  accounts.push_back({"fabric", fabric.fabric_inode(), {}, {}});

  for (Pair& pair : state->pairs) {
    TRY(pair.target.wait_ready(at_most(ready_timeout_ns)));
    TRY(pair.initiator.wait_ready(at_most(ready_timeout_ns)));
  }
  TRY_ASSIGN(const Books books,
             open_books(services, cell.condition == plan::Condition::path, accounts));

  // The condition comes after set-up, so that a fault hits traffic and not the exchange before it.
  TRY_ASSIGN(const auto applied,
             fabric.apply(cell.condition == plan::Condition::faulted, cell.seed));

  const lab::Measure& measure = plan.lab.measure;
  traffic::Schedule schedule;
  std::uint64_t lead_ns = 0;
  for (const lab::Traffic* traffic : traffics)
    lead_ns = std::max(lead_ns, traffic::lead_ns(*traffic));
  if (faults) lead_ns += CellFaults::arm_ns;
  schedule.start_ns = monotonic_ns() + lead_ns;
  schedule.window_begin_ns = schedule.start_ns + measure.warmup_ns;
  schedule.window_end_ns = schedule.window_begin_ns + measure.duration_ns;
  if (schedule.window_end_ns > deadline)
    return Error{Exit::timeout,
                 "measure within the lab's timeout",
                 0,
                 "raise timeout, or shorten warmup and duration",
                 {}};
  if (faults) {
    std::vector<CellFaults::Ends> ends;
    for (size_t i = 0; i < state->pairs.size(); ++i)
      ends.push_back({traffics[i], &state->pairs[i].initiator, &state->pairs[i].target});
    TRY(faults->arm(ends, schedule.start_ns));
  }
  if (books.path != nullptr) books.path->restart_wire();
  for (Pair& pair : state->pairs) {
    TRY(pair.target.start(schedule));
    TRY(pair.initiator.start(schedule));
  }
  if (services.first_packet) services.first_packet();

  std::vector<record::Flow> initiators;
  const auto collect = [&](auto end) -> Result<std::vector<record::Flow>> {
    std::vector<record::Flow> flows;
    for (size_t i = 0; i < state->pairs.size(); ++i) {
      const std::uint64_t budget = traffic::drain_budget_ns(*traffics[i]) + 5 * second_ns;
      TRY_ASSIGN(record::Flow flow, (state->pairs[i].*end).report(at_most(budget)));
      flows.push_back(std::move(flow));
    }
    return flows;
  };
  // Programs know nothing of the window: where there is nothing else, it is as long as they run.
  const bool programs = std::all_of(traffics.begin(), traffics.end(), [](const lab::Traffic* t) {
    return t->kind == lab::TrafficKind::command;
  });
  // Reading takes a while, in which the first packets would go uncounted: a window that begins with
  // the traffic has all read before.
  const bool from_start = programs || measure.warmup_ns == 0;
  Reading begin;
  if (from_start) {
    TRY_ASSIGN(begin.counters, read_counters(plan, fabric));
  }
  sleep_until_ns(from_start ? schedule.start_ns - ahead_ns : schedule.window_begin_ns);
  TRY(read_cpu(books, begin));
  if (!from_start) {
    TRY_ASSIGN(begin.counters, read_counters(plan, fabric));
  }
  if (programs) {
    TRY_ASSIGN(initiators, collect(&Pair::initiator));
  } else {
    sleep_until_ns(schedule.window_end_ns);
  }
  Reading end;
  TRY(read_cpu(books, end));
  TRY_ASSIGN(end.counters, read_counters(plan, fabric));
  fill_in(record, plan, begin, end);
  if (books.path != nullptr) record.path = books.path->path_between(*begin.path, *end.path);
  if (!programs) {
    TRY_ASSIGN(initiators, collect(&Pair::initiator));
  }
  TRY_ASSIGN(const std::vector<record::Flow> targets, collect(&Pair::target));
  for (size_t i = 0; i < targets.size(); ++i)
    record.flows.push_back(traffic::merge(initiators[i], targets[i]));
  if (programs) bound_by_counters(record);
  if (faults) TRY(wait_until_quiet(fabric));
  TRY(fill_in_impairments(record, fabric, applied));
  if (faults) TRY(faults->fill_in(record));
  record.kernel_log = log.warnings();
  return CellRun(std::move(state));
}

} // namespace rdmalab::engine
