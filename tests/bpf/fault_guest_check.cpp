/// Each fault on real rxe traffic, in a guest (a lab's traffic of kind command runs it): whether
/// the action succeeds on rxe's packets, the transport answers as it should, and the books close.
/// Prints a line for each; exit 0: all as expected.
#include "base/clock.h"
#include "fault/programs.h"
#include "net/fabric.h"
#include "traffic/endpoint.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace rdmalab;
using wire::FaultAction;

constexpr std::uint64_t ms = 1'000'000;

fault::Port port(const net::Fabric& fabric, const std::string& host, const char* ip)
{
  return {host,
          fabric.port_index(host),
          fabric.netns_path(host),
          fabric.device_index(host),
          {*wire::parse_ip(ip)},
          false};
}

Result<record::Flow> traffic(const net::Fabric& fabric, std::uint64_t window_ns)
{
  traffic::EndpointSpec from;
  from.traffic.name = "check";
  from.traffic.message_bytes = 65536;
  from.netns_path = fabric.netns_path("client");
  from.rdma_device = "rxfa";
  from.local_ip = "10.0.0.1";
  from.peer_ip = "10.0.0.2";
  from.port = 7471;
  from.seed = 1;
  from.ring_bytes = 64U << 20U;
  traffic::EndpointSpec to = from;
  to.role = traffic::Role::target;
  to.netns_path = fabric.netns_path("server");
  to.rdma_device = "rxfb";
  std::swap(to.local_ip, to.peer_ip);
  TRY_ASSIGN(auto target, traffic::Endpoint::spawn(to));
  TRY_ASSIGN(auto initiator, traffic::Endpoint::spawn(from));
  TRY(target.wait_ready(10'000 * ms));
  TRY(initiator.wait_ready(10'000 * ms));
  const std::uint64_t start = monotonic_ns() + 5 * ms;
  const traffic::Schedule schedule{start, start + 10 * ms, start + 10 * ms + window_ns};
  TRY(target.start(schedule));
  TRY(initiator.start(schedule));
  const std::uint64_t patience = window_ns + traffic::drain_budget_ns(from.traffic) + 2'000 * ms;
  TRY_ASSIGN(const record::Flow one, initiator.report(patience));
  TRY_ASSIGN(const record::Flow two, target.report(patience));
  return traffic::merge(one, two);
}

fault::Rule rule(const char* name, FaultAction action)
{
  fault::Rule made;
  made.name = name;
  made.action = action;
  made.classes = {wire::PacketClass::data};
  made.every = 50;
  switch (action) {
  case FaultAction::delay:
    made.delay_ns = 2 * ms;
    break;
  case FaultAction::reorder:
    made.passing = 3;
    break;
  case FaultAction::corrupt:
  case FaultAction::forge:
    made.pattern = {0xff, 1};
    made.payload_offset = 500;
    made.limit = 5;
    break;
  case FaultAction::rewrite:
    made.dscp = 46;
    made.ttl = 9;
    break;
  default:
    break;
  }
  return made;
}

bool check(net::Fabric& fabric, fault::Programs& programs, const fault::Rule& one)
{
  const auto fail = [&one](const Error& error) {
    std::printf("%-10s ERROR %s: %s\n", one.name.c_str(), error.message().c_str(),
                error.hint.c_str());
    return false;
  };
  if (const auto set = programs.set_rules({one}, 1); !set) return fail(set.error());
  if (const auto armed = programs.arm(monotonic_ns()); !armed) return fail(armed.error());
  const auto flow = traffic(fabric, 30 * ms);
  if (!flow) return fail(flow.error());
  programs.disarm();
  const auto books = programs.ledger();
  if (!books) return fail(books.error());
  const auto captured = programs.take_trace();
  if (!captured) return fail(captured.error());
  const auto problems = fault::check_sums(*books);
  for (const auto& problem : problems) std::printf("  %s\n", problem.c_str());
  const auto& counts = books->at(0, 1, fault::PacketKind::data);
  const auto traced =
      std::ranges::count(captured->trace.packets, one.action, &wire::TracedPacket::action);
  const bool forged = one.action == FaultAction::forge;
  const bool good = problems.empty() && books->rules[0].fired > 0 && flow->outcome == "ok" &&
                    (flow->corrupt_messages > 0) == forged && captured->trace.lost == 0 &&
                    static_cast<std::uint64_t>(traced) == books->rules[0].fired;
  std::printf("%-10s %s: %.1f MB/s, %s, %llu corrupt of %llu messages; %llu fired, %lld traced, "
              "%llu sent, %llu arrived, "
              "%llu NAKs, %zu packets in the trace\n",
              one.name.c_str(), good ? "good" : "BAD",
              static_cast<double>(flow->bytes) * 1e3 / static_cast<double>(flow->window_ns),
              flow->outcome.c_str(), static_cast<unsigned long long>(flow->corrupt_messages),
              static_cast<unsigned long long>(flow->checked_messages),
              static_cast<unsigned long long>(books->rules[0].fired),
              static_cast<long long>(traced), static_cast<unsigned long long>(counts.sent),
              static_cast<unsigned long long>(counts.arrived),
              static_cast<unsigned long long>(books->at(1, 0, fault::PacketKind::nak).arrived),
              captured->trace.packets.size());
  return good;
}

/// Goodput where the core is the limit: with the programs, with trace, and without them.
void print_cost(const net::Fabric& fabric, fault::Programs& programs)
{
  const auto goodput = [&fabric] {
    const auto flow = traffic(fabric, 200 * ms);
    return flow ? static_cast<double>(flow->bytes) * 1e3 / static_cast<double>(flow->window_ns) : 0;
  };
  (void)programs.set_rules({}, 1);
  (void)programs.arm(monotonic_ns(), false);
  const double attached = goodput();
  (void)programs.arm(monotonic_ns(), true);
  const double traced = goodput();
  programs.detach();
  const double bare = goodput();
  std::printf(
      "goodput without programs %.2f MB/s; attached %.2f (%+.2f %%); with trace %.2f (%+.2f %%)\n",
      bare, attached, 100 * (attached / bare - 1), traced, 100 * (traced / bare - 1));
}

int run()
{
  net::FabricSpec spec;
  spec.mtu = 4200;
  spec.hosts = {
      {"client", "rlf-client", "eth0", "p0", "rxfa", "02:00:00:00:00:01", "10.0.0.1", 24},
      {"server", "rlf-server", "eth0", "p1", "rxfb", "02:00:00:00:00:02", "10.0.0.2", 24}};
  auto fabric = net::Fabric::build(spec);
  auto programs = fault::Programs::load();
  if (!fabric || !programs) {
    std::printf("ERROR %s\n", (!fabric ? fabric.error() : programs.error()).message().c_str());
    return 1;
  }
  const auto attached =
      programs->attach(fabric->fabric_path(),
                       {port(*fabric, "client", "10.0.0.1"), port(*fabric, "server", "10.0.0.2")});
  if (!attached) {
    std::printf("ERROR %s\n", attached.error().message().c_str());
    return 1;
  }
  bool good = true;
  for (const auto& each :
       {rule("drop", FaultAction::drop), rule("duplicate", FaultAction::duplicate),
        rule("delay", FaultAction::delay), rule("reorder", FaultAction::reorder),
        rule("corrupt", FaultAction::corrupt), rule("forge", FaultAction::forge),
        rule("mark", FaultAction::mark), rule("rewrite", FaultAction::rewrite)})
    good = check(*fabric, *programs, each) && good;
  print_cost(*fabric, *programs);
  return good ? 0 : 1;
}

} // namespace

int main()
{
  return run();
}
