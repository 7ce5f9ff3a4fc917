/// Runs one traffic between the namespaces `a` (10.0.0.1, device rxa) and `b` (10.0.0.2, rxb) of a
/// guest and prints its Flow as JSON: for looking at the endpoints alone, beside perftest and
/// iperf3.
///   traffic_guest_check send|write|read|tcp [key=value ...]
/// Keys: bytes, depth, qps, streams, path_mtu, timeout, retry, ms (window). Exit 0: intact and
/// unbroken.
#include "base/clock.h"
#include "base/json.h"
#include "traffic/endpoint.h"

#include <cstdio>
#include <cstdlib>
#include <map>

namespace {

using namespace rdmalab;
using namespace rdmalab::traffic;

constexpr std::uint64_t ms = 1'000'000;

Result<record::Flow> run(const lab::Traffic& traffic, std::uint64_t window_ns)
{
  EndpointSpec from;
  from.traffic = traffic;
  from.netns_path = "/run/netns/a";
  from.rdma_device = "rxa";
  from.local_ip = "10.0.0.1";
  from.peer_ip = "10.0.0.2";
  from.port = 7471;
  from.seed = 1;
  from.ring_bytes = 64U << 20;
  EndpointSpec to = from;
  to.role = Role::target;
  to.netns_path = "/run/netns/b";
  to.rdma_device = "rxb";
  std::swap(to.local_ip, to.peer_ip);
  TRY_ASSIGN(Endpoint target, Endpoint::spawn(to));
  TRY_ASSIGN(Endpoint initiator, Endpoint::spawn(from));
  TRY(target.wait_ready(10'000 * ms));
  TRY(initiator.wait_ready(10'000 * ms));
  const std::uint64_t start = monotonic_ns() + 5 * ms;
  const Schedule schedule{start, start + 50 * ms, start + 50 * ms + window_ns};
  TRY(target.start(schedule));
  TRY(initiator.start(schedule));
  const std::uint64_t patience = window_ns + drain_budget_ns(traffic) + 2'000 * ms;
  TRY_ASSIGN(const record::Flow one, initiator.report(patience));
  TRY_ASSIGN(const record::Flow two, target.report(patience));
  return merge(one, two);
}

} // namespace

int main(int argc, char** argv)
{
  const std::string what = argc > 1 ? argv[1] : "send";
  std::map<std::string, std::uint64_t> set;
  for (int i = 2; i < argc; ++i) {
    const std::string text = argv[i];
    const auto at = text.find('=');
    if (at != std::string::npos)
      set[text.substr(0, at)] = std::strtoull(text.c_str() + at + 1, nullptr, 10);
  }
  const auto value = [&](const char* key, std::uint64_t otherwise) {
    return set.count(key) != 0 ? set[key] : otherwise;
  };
  const auto small = [&](const char* key, std::uint32_t otherwise) {
    return static_cast<std::uint32_t>(value(key, otherwise));
  };
  lab::Traffic traffic;
  traffic.name = what;
  traffic.kind = what == "tcp" ? lab::TrafficKind::tcp : lab::TrafficKind::verbs;
  traffic.verbs.op = what == "send"    ? lab::VerbsOp::send
                     : what == "write" ? lab::VerbsOp::write
                                       : lab::VerbsOp::read;
  traffic.message_bytes = value("bytes", 65536);
  traffic.verbs.depth = small("depth", 16);
  traffic.verbs.qps = small("qps", 1);
  traffic.verbs.path_mtu = small("path_mtu", 0);
  traffic.verbs.timeout = small("timeout", 14);
  traffic.verbs.retry_count = small("retry", 6);
  traffic.tcp.streams = small("streams", 1);
  const auto flow = run(traffic, value("ms", 300) * ms);
  if (!flow) {
    std::printf("%s: ERROR %s (%s)\n", what.c_str(), flow.error().message().c_str(),
                flow.error().hint.c_str());
    return 1;
  }
  std::printf("%s: %.2f MB/s, median %.1f us, p99 %.1f us\n", what.c_str(),
              static_cast<double>(flow->bytes) * 1e3 / static_cast<double>(flow->window_ns),
              static_cast<double>(flow->latency.quantile(500'000)) / 1e3,
              static_cast<double>(flow->latency.quantile(990'000)) / 1e3);
  Json json(*flow);
  json.erase("latency");
  std::printf("%s\n", json.dump().c_str());
  return flow->outcome == "ok" && flow->corrupt_messages == 0 && flow->checked_messages > 0 ? 0 : 1;
}
