#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "net/fabric.h"
#include "net/gc.h"
#include "net/netns.h"
#include "net/probe.h"
#include "net/rdma.h"
#include "net/socket.h"

#include <cstdio>
#include <filesystem>
#include <string>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <spdlog/fmt/fmt.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/// In the guest's kernel, where rxe and netem are: a fabric of two hosts is built, faulted, read
/// back, crossed by counted packets, and taken down again without a trace. Between `--hold` and an
/// end of standard input the fabric stands, for a script to compare with tc and rdma. Prints one
/// line per check; exit 0 if all hold.
namespace rdmalab::net {
namespace {

int failures = 0;

void expect(bool holds, const std::string& what)
{
  std::printf("%s %s\n", holds ? "ok  " : "FAIL", what.c_str());
  if (!holds) ++failures;
}

template <typename T> bool expect_ok(const Result<T>& result, const std::string& what)
{
  expect(result.ok(), result.ok() ? what : what + ": " + result.error().message());
  return result.ok();
}

FabricSpec two_hosts()
{
  FabricSpec spec;
  spec.netns = "rl-fabric";
  spec.mtu = 4200;
  spec.hosts = {{"client", "rl-client", "eth0", "p0", "rxe0", "02:00:00:00:00:01", "10.0.0.1", 24},
                {"server", "rl-server", "eth0", "p1", "rxe1", "02:00:00:00:00:02", "10.0.0.2", 24}};
  Netem link;
  link.limit_packets = 10'000;
  link.delay_ns = 20'000;
  link.rate_bps = 1'000'000'000;
  Netem lossy = link;
  lossy.loss_ppm = 10'000;
  Netem bursty;
  bursty.limit_packets = 77;
  bursty.delay_ns = 1'000'000;
  bursty.jitter_ns = 100'000;
  bursty.gilbert_elliott = true;
  bursty.ge_p_ppm = 10'000;
  bursty.ge_r_ppm = 250'000;
  bursty.ge_bad_loss_ppm = 700'000;
  bursty.ge_good_loss_ppm = 1'000;
  bursty.duplicate_ppm = 5'000;
  bursty.reorder_ppm = 20'000;
  bursty.reorder_correlation_ppm = 500'000;
  bursty.reorder_gap = 5;
  bursty.corrupt_ppm = 300;
  spec.shapers = {{"server", false, "p1", link, lossy},
                  {"client", true, "ifb-p0", Netem{}, bursty},
                  {"client", false, "p0", link, link}};
  return spec;
}

Result<Fd> udp_in(const std::string& path)
{
  TRY_ASSIGN(const Fd ns, open_file(path, O_RDONLY | O_CLOEXEC));
  TRY_ASSIGN(const auto inside, EnteredNamespace::enter(ns.get()));
  Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return system_error("open a socket");
  return socket;
}

/// Sends `count` datagrams to the server, a few at a time, and returns how many arrived and a sum
/// over their numbers in order of arrival.
std::pair<std::uint64_t, std::uint64_t> send_numbers(const Fabric& fabric, std::uint32_t count)
{
  auto sender = udp_in(fabric.netns_path("client"));
  auto receiver = udp_in(fabric.netns_path("server"));
  if (!expect_ok(sender, "socket in the client") || !expect_ok(receiver, "socket in the server"))
    return {};
  const sockaddr_in to{AF_INET, htons(5000), {htonl(0x0a000002)}, {}};
  const auto* address = reinterpret_cast<const sockaddr*>(&to);
  if (::bind(receiver->get(), address, sizeof(to)) != 0) return {};
  std::uint64_t arrived = 0;
  std::uint64_t sum = 0;
  const auto drain = [&](int patience_ms) {
    pollfd ready{receiver->get(), POLLIN, 0};
    while (::poll(&ready, 1, patience_ms) > 0) {
      std::uint32_t number = 0;
      if (::recv(receiver->get(), &number, sizeof(number), 0) != sizeof(number)) return;
      ++arrived;
      sum = sum * 31 + number;
    }
  };
  for (std::uint32_t number = 0; number < count; ++number) {
    (void)::sendto(sender->get(), &number, sizeof(number), 0, address, sizeof(to));
    if (number % 32 == 31) drain(number % 512 == 511 ? 5 : 1);
  }
  drain(50);
  return {arrived, sum};
}

void check_readback(Fabric& fabric)
{
  const auto applied = fabric.apply(true, 42);
  if (!expect_ok(applied, "apply the faults")) return;
  for (const AppliedNetem& one : *applied)
    expect(one.as_requested, fmt::format("{} {} reads back as requested: {}", one.host,
                                         one.up ? "up" : "down", Json(one.applied).dump()));
  expect(applied->at(0).requested.seed != applied->at(1).requested.seed, "seeds differ");
}

/// The same fabric with the loss alone, so that counts can be compared with what a socket saw.
void check_counts()
{
  constexpr std::uint32_t count = 20'000;
  FabricSpec spec = two_hosts();
  spec.shapers.resize(1);
  auto fabric = Fabric::build(spec);
  if (!expect_ok(fabric, "build a fabric with loss alone")) return;
  std::uint64_t sums[3];
  for (int round = 0; round < 3; ++round) {
    if (!expect_ok(fabric->apply(true, round < 2 ? 42 : 43), "apply 1 % loss")) return;
    const auto [arrived, sum] = send_numbers(*fabric, count);
    sums[round] = sum;
    const auto stats = fabric->impairment_stats();
    if (!expect_ok(stats, "read the counts")) return;
    const ImpairmentCounts& one = stats->at(0);
    expect(one.exact, "the kernel counts per impairment");
    expect(one.packets == arrived,
           fmt::format("{} packets left netem, {} arrived", one.packets, arrived));
    expect(one.packets + one.dropped == count,
           fmt::format("{} left and {} dropped are {}", one.packets, one.dropped, count));
    expect(one.overflowed == 0, "none overflowed");
    // 5 standard deviations of a binomial with p = 0.01: 200 +- 70.
    expect(one.dropped > 130 && one.dropped < 270,
           fmt::format("{} of {} dropped", one.dropped, count));
    expect(one.delayed == one.packets, "every packet was delayed");
  }
  expect(sums[0] == sums[1], "the same seed drops the same packets");
  expect(sums[0] != sums[2], "another seed drops others");
  const auto unfaulted = fabric->apply(false, 42);
  if (!expect_ok(unfaulted, "take the faults away")) return;
  expect(unfaulted->at(0).as_requested && unfaulted->at(0).applied.loss_ppm == 0,
         "no loss any more");
  const auto [arrived, sum] = send_numbers(*fabric, 1'000);
  expect(arrived == 1'000, fmt::format("{} of 1000 arrive without faults", arrived));
}

/// What comes in through an ifb is delayed, counted, and arrives.
void check_up()
{
  FabricSpec spec = two_hosts();
  Netem duplicating;
  duplicating.duplicate_ppm = 500'000;
  Netem jittery;
  jittery.delay_ns = 200'000;
  jittery.jitter_ns = 150'000;
  spec.shapers = {{"client", true, "ifb-p0", duplicating, jittery}};
  auto fabric = Fabric::build(spec);
  if (!expect_ok(fabric, "build a fabric with an ifb")) return;
  if (!expect_ok(fabric->apply(false, 1), "apply duplication")) return;
  const auto [arrived, sum] = send_numbers(*fabric, 1'000);
  auto stats = fabric->impairment_stats();
  if (!expect_ok(stats, "read the counts")) return;
  expect(stats->at(0).duplicated > 400 && stats->at(0).duplicated < 600,
         fmt::format("{} of 1000 duplicated", stats->at(0).duplicated));
  expect(arrived == 1'000 + stats->at(0).duplicated, fmt::format("{} arrived", arrived));

  if (!expect_ok(fabric->apply(true, 1), "apply jitter that keeps the order")) return;
  const auto [in_order, sum_ordered] = send_numbers(*fabric, 1'000);
  std::uint64_t expected = 0;
  for (std::uint64_t number = 0; number < 1'000; ++number) expected = expected * 31 + number;
  expect(in_order == 1'000 && sum_ordered == expected, "jitter keeps the order");

  expect_ok(fabric->teardown(), "take it down");
  spec.shapers[0].faulted.keep_order = false;
  fabric = Fabric::build(spec);
  if (!expect_ok(fabric, "build again") ||
      !expect_ok(fabric->apply(true, 1), "apply jitter that reorders"))
    return;
  const auto [all, sum_shuffled] = send_numbers(*fabric, 1'000);
  expect(all == 1'000 && sum_shuffled != expected, "jitter without order reorders");
}

void check_clean()
{
  for (const char* name : {"rl-fabric", "rl-client", "rl-server"})
    expect(!std::filesystem::exists(std::string("/run/netns/") + name),
           std::string(name) + " is gone");
  auto socket = NlSocket::open(NETLINK_RDMA);
  if (!expect_ok(socket, "open NETLINK_RDMA")) return;
  const auto devices = list_rdma(*socket);
  expect(devices && devices->empty(), "no RDMA device is left");
}

int run(bool hold)
{
  for (const Capability& one : probe_kernel())
    expect(one.ok, one.name + (one.ok ? "" : ": " + one.why));
  check_clean();
  {
    const std::uint64_t start = monotonic_ns();
    auto fabric = Fabric::build(two_hosts());
    const std::uint64_t built = monotonic_ns();
    if (!expect_ok(fabric, "build a fabric of two hosts")) return 1;
    std::printf("time set-up %llu us\n", static_cast<unsigned long long>((built - start) / 1000));
    for (const auto& [device, on] : fabric->offloads())
      expect(on.empty(), fmt::format("no batching offload on {} {}", device, on));
    check_readback(*fabric);
    const auto counters = fabric->counters("client");
    if (expect_ok(counters, "read counters")) {
      expect(counters->rdma.contains("sent_pkts") && counters->rdma.contains("rcvd_seq_err"),
             fmt::format("{} rdma counters", counters->rdma.size()));
      expect(counters->device.at("tx_packets") == 0, "nobody has said anything yet");
    }
    if (hold) {
      std::printf("hold\n");
      std::fflush(stdout);
      char byte;
      while (::read(STDIN_FILENO, &byte, 1) > 0) {
      }
    }
    const std::uint64_t going = monotonic_ns();
    expect_ok(fabric->teardown(), "take it down");
    std::printf("time tear-down %llu us\n",
                static_cast<unsigned long long>((monotonic_ns() - going) / 1000));
  }
  check_clean();
  check_counts();
  check_up();
  check_clean();
  // A run that is killed leaves everything; gc finds it.
  if (const pid_t child = ::fork(); child == 0) {
    auto owner = RunOwner::claim("check", {"rl-fabric", "rl-client", "rl-server"});
    auto fabric = Fabric::build(two_hosts());
    ::_exit(owner && fabric ? 0 : 1);
  } else {
    int status = 1;
    ::waitpid(child, &status, 0);
    expect(status == 0, "a run that dies");
  }
  expect(std::filesystem::exists("/run/netns/rl-client"), "leaves its namespaces");
  const auto report = collect_garbage();
  expect(report && report->removed.size() == 3 && report->problems.empty(), "gc removes them");
  check_clean();
  std::printf("%s\n", failures == 0 ? "PASS" : "FAIL");
  return failures == 0 ? 0 : 1;
}

} // namespace
} // namespace rdmalab::net

int main(int argc, char** argv)
{
  return rdmalab::net::run(argc > 1 && std::string(argv[1]) == "--hold");
}
