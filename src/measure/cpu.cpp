#include "measure/cpu.h"

#include "cpu_ledger.h"
#include "cpu_ledger.skel.h"
#include "ebpf/log.h"
#include "measure/accounts.h"

#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <spdlog/fmt/fmt.h>

namespace rdmalab::measure {

namespace {

struct Destroy {
  void operator()(cpu_ledger_bpf* skeleton) const { cpu_ledger_bpf__destroy(skeleton); }
};
using Skeleton = std::unique_ptr<cpu_ledger_bpf, Destroy>;

} // namespace

struct CpuLedger::State {
  Skeleton skeleton;
  std::vector<std::string> hosts;
  int cpus = 0;
};

CpuLedger::CpuLedger(std::unique_ptr<State> state) : state_(std::move(state)) {}
CpuLedger::CpuLedger(CpuLedger&&) noexcept = default;
CpuLedger& CpuLedger::operator=(CpuLedger&&) noexcept = default;
CpuLedger::~CpuLedger() = default;

Result<CpuLedger> CpuLedger::load(bool with_rxe)
{
  TRY(ledger_possible(with_rxe));
  ebpf::BpfLog log;
  Skeleton skeleton(cpu_ledger_bpf__open());
  if (!skeleton) return system_error("open the CPU ledger's programs", Exit::setup, log.tail());
  skeleton->rodata->with_rxe = with_rxe;
  if (const int failed = cpu_ledger_bpf__load(skeleton.get()))
    return system_error(-failed, "load the CPU ledger's programs", Exit::setup, log.tail());

  auto state = std::make_unique<State>();
  state->skeleton = std::move(skeleton);
  state->cpus = libbpf_num_possible_cpus();
  if (state->cpus < 1) return system_error(-state->cpus, "count the possible CPUs");
  return CpuLedger(std::move(state));
}

Status CpuLedger::open(const std::vector<CpuHost>& hosts)
{
  auto* skeleton = state_->skeleton.get();
  for (const auto& host : hosts) state_->hosts.push_back(host.name);
  TRY(enter_accounts(hosts, skeleton->rodata->with_rxe,
                     {&skeleton->bss->hosts, bpf_map__fd(skeleton->maps.processes),
                      bpf_map__fd(skeleton->maps.devices)}));

  ebpf::BpfLog log;
  if (const int failed = cpu_ledger_bpf__attach(skeleton))
    return system_error(-failed, "attach the CPU ledger's programs", Exit::setup, log.tail());
  for (int cpu = 0; cpu < state_->cpus; ++cpu) {
    TRY_ASSIGN(const auto refused, run_on_cpu(skeleton->progs.open_cpu, cpu));
    if (refused.value_or(0) != 0)
      return system_error(static_cast<int>(*refused),
                          fmt::format("open the CPU ledger's book of CPU {}", cpu));
  }
  return {};
}

Result<CpuLedger> CpuLedger::attach(const std::vector<CpuHost>& hosts)
{
  bool with_rxe = false;
  for (const auto& host : hosts) with_rxe = with_rxe || !host.rdma_device.empty();
  TRY_ASSIGN(auto ledger, load(with_rxe));
  TRY(ledger.open(hosts));
  return ledger;
}

Result<CpuReading> CpuLedger::reading() const
{
  auto* skeleton = state_->skeleton.get();
  CpuReading total;
  std::array<std::uint64_t, CPU_LEDGER_ACCOUNTS> ns{};
  std::vector<cpu_ledger_cpu> books(static_cast<std::size_t>(state_->cpus));
  for (int cpu = 0; cpu < state_->cpus; ++cpu) {
    // An interrupt that charges something during the copy makes it void; that doesn't happen many
    // times running.
    std::optional<std::uint32_t> refused = EAGAIN;
    for (int attempt = 0; refused == EAGAIN && attempt < 100; ++attempt) {
      TRY_ASSIGN(refused, run_on_cpu(skeleton->progs.read_cpu, cpu));
    }
    if (!refused) continue;
    if (*refused != 0)
      return system_error(static_cast<int>(*refused),
                          fmt::format("read the CPU ledger's book of CPU {}", cpu));
    const std::uint32_t zero = 0;
    if (bpf_map_lookup_elem(bpf_map__fd(skeleton->maps.readings), &zero, books.data()) != 0)
      return system_error("read the CPU ledger");
    const auto& book = books[static_cast<std::size_t>(cpu)];
    for (std::size_t i = 0; i < ns.size(); ++i) ns[i] += book.ns[i];
    total.elapsed_ns += book.last - book.started;
    ++total.cpus;
  }
  if (skeleton->bss->lost != 0)
    return Error{Exit::setup,
                 fmt::format("keep the CPU ledger: {} tasks did not fit", skeleton->bss->lost),
                 0,
                 {},
                 {}};

  for (std::size_t i = 0; i < state_->hosts.size(); ++i)
    total.hosts.push_back({state_->hosts[i], ns[i * 4 + CPU_LEDGER_APP_USER],
                           ns[i * 4 + CPU_LEDGER_APP_SYSTEM], ns[i * 4 + CPU_LEDGER_RXE],
                           ns[i * 4 + CPU_LEDGER_SOFTIRQ]});
  total.idle_ns = ns[CPU_LEDGER_IDLE];
  total.interrupt_ns = ns[CPU_LEDGER_INTERRUPT];
  total.other_ns = ns[CPU_LEDGER_OTHER] + ns[CPU_LEDGER_UNPLACED];
  return total;
}

Result<std::vector<record::Cpu>> CpuLedger::read() const
{
  TRY_ASSIGN(auto total, reading());
  return std::move(total.hosts);
}

Result<std::uint64_t> CpuLedger::busy_ns() const
{
  TRY_ASSIGN(const auto total, reading());
  return total.busy_ns();
}

CpuReading operator-(const CpuReading& later, const CpuReading& earlier)
{
  CpuReading between = later;
  for (std::size_t i = 0; i < between.hosts.size() && i < earlier.hosts.size(); ++i) {
    between.hosts[i].app_user_ns -= earlier.hosts[i].app_user_ns;
    between.hosts[i].app_system_ns -= earlier.hosts[i].app_system_ns;
    between.hosts[i].rxe_ns -= earlier.hosts[i].rxe_ns;
    between.hosts[i].softirq_ns -= earlier.hosts[i].softirq_ns;
  }
  between.idle_ns -= earlier.idle_ns;
  between.interrupt_ns -= earlier.interrupt_ns;
  between.other_ns -= earlier.other_ns;
  between.elapsed_ns -= earlier.elapsed_ns;
  return between;
}

bool cpu_ledger_supported(std::string& why)
{
  auto ledger = CpuLedger::load(rxe_btf_readable());
  if (!ledger) {
    why = ledger.error().message();
    if (!ledger.error().hint.empty()) why += ": " + ledger.error().hint;
  }
  return ledger.ok();
}

} // namespace rdmalab::measure
