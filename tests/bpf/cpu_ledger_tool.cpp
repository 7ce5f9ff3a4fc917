// Keeps the CPU ledger for a while and prints it: what the guest check runs, and a tool to look at
// it by hand.
//   cpu_ledger_tool SECONDS NAME:NETNS_PATH:RXE_DEVICE:PID[,PID...] ...   (RXE_DEVICE and PIDs may
//   be empty)
// Exit status 1 if the accounts don't add up to the window times the CPUs within 1 %, 3 if the
// ledger can't be kept.
#include "base/clock.h"
#include "measure/cpu.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>

namespace {

using rdmalab::measure::CpuHost;
using rdmalab::measure::CpuLedger;

CpuHost parse(const std::string& text)
{
  CpuHost host;
  std::string netns;
  std::string pids;
  std::istringstream fields(text);
  std::getline(fields, host.name, ':');
  std::getline(fields, netns, ':');
  std::getline(fields, host.rdma_device, ':');
  std::getline(fields, pids, ':');
  struct stat status {};
  if (!netns.empty() && stat(netns.c_str(), &status) == 0) host.netns_inode = status.st_ino;
  std::istringstream list(pids);
  for (std::string pid; std::getline(list, pid, ',');) host.pids.push_back(std::atoi(pid.c_str()));
  return host;
}

/// CPU time of a host's processes as the scheduler counts it, ns; softirqs and interrupts on their
/// back included.
std::uint64_t scheduled_ns(const CpuHost& host)
{
  std::uint64_t sum = 0;
  for (const auto pid : host.pids) {
    std::error_code gone;
    for (const auto& thread :
         std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), gone)) {
      std::uint64_t ns = 0;
      if (std::ifstream(thread.path() / "schedstat") >> ns) sum += ns;
    }
  }
  return sum;
}

int fail(const rdmalab::Error& error)
{
  fmt::print(stderr, "{}\n  {}\n", error.message(), error.hint);
  return 3;
}

} // namespace

int main(int argc, char** argv)
{
  std::vector<CpuHost> hosts;
  for (int i = 2; i < argc; ++i) hosts.push_back(parse(argv[i]));
  const auto seconds = argc > 1 ? std::atof(argv[1]) : 1.0;

  const auto before_load = rdmalab::monotonic_ns();
  auto ledger = CpuLedger::attach(hosts);
  if (!ledger) return fail(ledger.error());
  const auto begin = rdmalab::monotonic_ns();
  std::vector<std::uint64_t> scheduled;
  for (const auto& host : hosts) scheduled.push_back(scheduled_ns(host));
  auto first = ledger->reading();
  if (!first) return fail(first.error());
  rdmalab::sleep_until_ns(begin + static_cast<std::uint64_t>(seconds * 1e9));
  const auto window = rdmalab::monotonic_ns() - begin;
  auto second = ledger->reading();
  if (!second) return fail(second.error());
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const auto end = scheduled_ns(hosts[i]); // less than before if one of them ended
    scheduled[i] = end > scheduled[i] ? end - scheduled[i] : 0;
  }

  const auto used = *second - *first;
  auto sum = used.idle_ns + used.interrupt_ns + used.other_ns;
  fmt::print("{:10} {:>12} {:>12} {:>12} {:>12} {:>12}\n", "us", "app_user", "app_system", "rxe",
             "softirq", "schedstat");
  for (std::size_t i = 0; i < used.hosts.size(); ++i) {
    const auto& host = used.hosts[i];
    fmt::print("{:10} {:12} {:12} {:12} {:12} {:12}\n", host.host, host.app_user_ns / 1000,
               host.app_system_ns / 1000, host.rxe_ns / 1000, host.softirq_ns / 1000,
               scheduled[i] / 1000);
    sum += host.app_user_ns + host.app_system_ns + host.rxe_ns + host.softirq_ns;
  }
  const auto expected = window * used.cpus;
  const auto off = sum > expected ? sum - expected : expected - sum;
  fmt::print("idle {} us, interrupts {} us, other {} us\n", used.idle_ns / 1000,
             used.interrupt_ns / 1000, used.other_ns / 1000);
  fmt::print(
      "sum {} us, elapsed {} us, window x CPUs {} us, off by {} ppm; load and attach took {} us\n",
      sum / 1000, used.elapsed_ns / 1000, expected / 1000, off * 1'000'000 / expected,
      (begin - before_load) / 1000);
  return sum == used.elapsed_ns && off * 100 <= expected ? 0 : 1;
}
