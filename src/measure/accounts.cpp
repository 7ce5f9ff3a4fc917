#include "measure/accounts.h"

#include "cpu_ledger.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace rdmalab::measure {
namespace {

/// The machine on which the ledgers' premise (softirqs and interrupts are never switched away from)
/// fails.
bool preempt_rt()
{
  std::ifstream file("/sys/kernel/realtime");
  int value = 0;
  return file >> value && value != 0;
}

bool readable(const char* path)
{
  return ::access(path, R_OK) == 0;
}

} // namespace

Result<std::optional<std::uint32_t>> run_on_cpu(const bpf_program* program, int cpu)
{
  bpf_test_run_opts options{};
  options.sz = sizeof(options);
  options.flags = BPF_F_TEST_RUN_ON_CPU;
  options.cpu = static_cast<std::uint32_t>(cpu);
  if (bpf_prog_test_run_opts(bpf_program__fd(program), &options) != 0) {
    if (errno == ENXIO) return std::optional<std::uint32_t>{};
    return system_error(
        fmt::format("run {} of the CPU ledger on CPU {}", bpf_program__name(program), cpu));
  }
  return std::optional{options.retval};
}

bool rxe_btf_readable()
{
  return readable("/sys/kernel/btf/rdma_rxe");
}

Status ledger_possible(bool with_rxe)
{
  if (!readable("/sys/kernel/btf/vmlinux"))
    return system_error("read /sys/kernel/btf/vmlinux for the CPU ledger", Exit::setup,
                        "the kernel needs CONFIG_DEBUG_INFO_BTF and /sys mounted");
  if (with_rxe && !rxe_btf_readable())
    return system_error(
        "read /sys/kernel/btf/rdma_rxe for the CPU ledger", Exit::setup,
        "load rdma_rxe first; without the module's BTF its work items can't be told from others");
  if (preempt_rt())
    return Error{Exit::setup,
                 "load the CPU ledger",
                 EOPNOTSUPP,
                 "a PREEMPT_RT kernel switches away from softirqs",
                 {}};
  return {};
}

Status enter_accounts(const std::vector<CpuHost>& hosts, bool with_rxe, const AccountMaps& maps)
{
  if (hosts.size() > CPU_LEDGER_HOSTS)
    return Error{Exit::setup,
                 fmt::format("keep a CPU ledger for {} hosts", hosts.size()),
                 E2BIG,
                 fmt::format("at most {} are possible, the fabric included", +CPU_LEDGER_HOSTS),
                 {}};
  for (std::uint32_t i = 0; i < hosts.size(); ++i) {
    const auto& host = hosts[i];
    maps.hosts->netns[i] = static_cast<std::uint32_t>(host.netns_inode);
    for (const pid_t pid : host.pids) {
      const auto tgid = static_cast<std::uint32_t>(pid);
      if (bpf_map_update_elem(maps.processes, &tgid, &i, BPF_ANY) != 0)
        return system_error(fmt::format("enter process {} into the CPU ledger", pid));
    }
    if (host.rdma_device.empty()) continue;
    if (!with_rxe)
      return Error{Exit::setup,
                   "open the CPU ledger for " + host.rdma_device,
                   EINVAL,
                   "it was loaded without rdma_rxe",
                   {}};
    std::array<char, CPU_LEDGER_NAME> name{};
    if (host.rdma_device.size() >= name.size())
      return system_error(ENAMETOOLONG,
                          "enter device " + host.rdma_device + " into the CPU ledger");
    std::memcpy(name.data(), host.rdma_device.data(), host.rdma_device.size());
    if (bpf_map_update_elem(maps.devices, name.data(), &i, BPF_ANY) != 0)
      return system_error("enter device " + host.rdma_device + " into the CPU ledger");
  }
  maps.hosts->count = static_cast<std::uint32_t>(hosts.size());
  return {};
}

} // namespace rdmalab::measure
