#include "measure/path.h"

#include "cpu_ledger.h"
#include "ebpf/log.h"
#include "measure/accounts.h"
#include "measure/path_names.h"
#include "path_ledger.h"
#include "path_ledger.skel.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace rdmalab::measure {
namespace {

struct DestroyPath {
  void operator()(path_ledger_bpf* skeleton) const { path_ledger_bpf__destroy(skeleton); }
};
using PathSkeleton = std::unique_ptr<path_ledger_bpf, DestroyPath>;

struct DestroyLink {
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};
using Link = std::unique_ptr<bpf_link, DestroyLink>;

/// The function at which a program is to be attached; "" for trace points and for programs that
/// are run by hand.
std::string function_of(const bpf_program* program)
{
  const std::string_view section = bpf_program__section_name(program);
  for (const std::string_view prefix : {"fentry/", "fexit/"})
    if (section.starts_with(prefix)) return std::string(section.substr(prefix.size()));
  return {};
}

bool at_trace_point(const bpf_program* program)
{
  return std::string_view(bpf_program__section_name(program)).starts_with("tp_btf/");
}

Result<PathSkeleton> open_path_skeleton(bool with_rxe, const std::set<std::string>& without)
{
  ebpf::BpfLog log;
  PathSkeleton skeleton(path_ledger_bpf__open());
  if (!skeleton) return system_error("open the path ledger's programs", Exit::setup, log.tail());
  skeleton->rodata->with_rxe = with_rxe;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, skeleton->obj)
  {
    if (without.contains(function_of(program))) bpf_program__set_autoload(program, false);
  }
  if (const int failed = path_ledger_bpf__load(skeleton.get()))
    return system_error(-failed, "load the path ledger's programs", Exit::setup, log.tail());
  return skeleton;
}

/// All functions at which the ledger would like to be.
std::set<std::string> wanted_functions()
{
  std::set<std::string> functions;
  const PathSkeleton skeleton(path_ledger_bpf__open());
  if (!skeleton) return functions;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, skeleton->obj)
  {
    if (std::string function = function_of(program); !function.empty())
      functions.insert(std::move(function));
  }
  return functions;
}

/// What the scheduler says that a process ran, all of its threads, ns: the first number of
/// schedstat (Documentation/scheduler/sched-stats.rst). 0 where the kernel keeps none.
std::uint64_t ran_ns(pid_t pid)
{
  std::uint64_t sum = 0;
  std::error_code ignored;
  for (const auto& task :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), ignored)) {
    std::ifstream file(task.path() / "schedstat");
    std::uint64_t ns = 0;
    if (file >> ns) sum += ns;
  }
  return sum;
}

void subtract(std::vector<std::uint64_t>& from, const std::vector<std::uint64_t>& earlier)
{
  for (std::size_t i = 0; i < from.size() && i < earlier.size(); ++i) from[i] -= earlier[i];
}

} // namespace

struct PathLedger::State {
  PathSkeleton skeleton;
  std::vector<Link> links; ///< before the skeleton they go
  std::vector<CpuHost> hosts;
  std::vector<std::string> missing;
  int cpus = 0;

  Status attach();
};

PathLedger::PathLedger(std::unique_ptr<State> state) : state_(std::move(state)) {}
PathLedger::PathLedger(PathLedger&&) noexcept = default;
PathLedger& PathLedger::operator=(PathLedger&&) noexcept = default;
PathLedger::~PathLedger() = default;

const std::vector<std::string>& PathLedger::missing() const
{
  return state_->missing;
}

Result<PathLedger> PathLedger::load(bool with_rxe)
{
  TRY(ledger_possible(with_rxe));
  auto state = std::make_unique<State>();
  std::set<std::string> without;
  if (!with_rxe)
    for (const std::string& function : wanted_functions())
      if (function.starts_with("rxe_")) without.insert(function);
  auto skeleton = open_path_skeleton(with_rxe, without);
  if (!skeleton) {
    // One function that is gone makes all of it fail: find out which, each by itself.
    const std::set<std::string> wanted = wanted_functions();
    for (const std::string& function : wanted) {
      std::set<std::string> others = wanted;
      others.erase(function);
      if (!without.contains(function) && !open_path_skeleton(with_rxe, others))
        without.insert(function);
    }
    skeleton = open_path_skeleton(with_rxe, without);
  }
  if (!skeleton) return std::move(skeleton).error();
  state->skeleton = std::move(skeleton).value();
  state->missing.assign(without.begin(), without.end());
  state->cpus = libbpf_num_possible_cpus();
  if (state->cpus < 1) return system_error(-state->cpus, "count the possible CPUs");
  return PathLedger(std::move(state));
}

Status PathLedger::State::attach()
{
  ebpf::BpfLog log;
  std::map<std::string, std::vector<Link>> functions;
  std::set<std::string> refused;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, skeleton->obj)
  {
    const std::string function = function_of(program);
    if (!bpf_program__autoload(program) || (function.empty() && !at_trace_point(program))) continue;
    Link link(bpf_program__attach(program));
    if (!link && function.empty())
      return system_error(
          fmt::format("attach the path ledger at {}", bpf_program__section_name(program)),
          Exit::setup, log.tail());
    if (link)
      functions[function].push_back(std::move(link));
    else
      refused.insert(function);
  }
  for (auto& [function, its] : functions)
    if (!refused.contains(function)) std::move(its.begin(), its.end(), std::back_inserter(links));
  missing.insert(missing.end(), refused.begin(), refused.end());
  std::sort(missing.begin(), missing.end());
  return {};
}

Status PathLedger::open(const std::vector<CpuHost>& hosts)
{
  auto* skeleton = state_->skeleton.get();
  state_->hosts = hosts;
  TRY(enter_accounts(hosts, skeleton->rodata->with_rxe,
                     {&skeleton->bss->hosts, bpf_map__fd(skeleton->maps.processes),
                      bpf_map__fd(skeleton->maps.devices)}));
  for (std::uint32_t i = 0; i < hosts.size(); ++i)
    if (hosts[i].name == "fabric") skeleton->data->fabric = i;
  TRY(state_->attach());
  for (int cpu = 0; cpu < state_->cpus; ++cpu) {
    TRY_ASSIGN(const auto refused, run_on_cpu(skeleton->progs.open_cpu, cpu));
    if (refused.value_or(0) != 0)
      return system_error(static_cast<int>(*refused),
                          fmt::format("open the path ledger's book of CPU {}", cpu));
  }
  return {};
}

void PathLedger::restart_wire()
{
  auto* bss = state_->skeleton->bss;
  bss->wire_frame = nullptr;
  std::memset(bss->wire, 0, sizeof(bss->wire));
}

Result<PathReading> PathLedger::reading() const
{
  auto* skeleton = state_->skeleton.get();
  PathReading total;
  total.ns.resize(PATH_SLOTS);
  total.count.resize(std::size_t{PATH_ROWS} * PATH_COUNTS);
  std::vector<path_cpu> books(static_cast<std::size_t>(state_->cpus));
  for (int cpu = 0; cpu < state_->cpus; ++cpu) {
    std::optional<std::uint32_t> refused = EAGAIN;
    for (int attempt = 0; refused == EAGAIN && attempt < 100; ++attempt) {
      TRY_ASSIGN(refused, run_on_cpu(skeleton->progs.read_cpu, cpu));
    }
    if (!refused) continue;
    if (*refused != 0)
      return system_error(static_cast<int>(*refused),
                          fmt::format("read the path ledger's book of CPU {}", cpu));
    const std::uint32_t zero = 0;
    if (bpf_map_lookup_elem(bpf_map__fd(skeleton->maps.readings), &zero, books.data()) != 0)
      return system_error("read the path ledger");
    const path_cpu& book = books[static_cast<std::size_t>(cpu)];
    for (std::size_t i = 0; i < total.ns.size(); ++i) total.ns[i] += book.ns[i];
    for (std::size_t i = 0; i < total.count.size(); ++i) total.count[i] += book.count[i];
    total.interrupts += book.interrupts;
    total.unbalanced += book.unbalanced;
    total.cpu.elapsed_ns += book.last - book.started;
    ++total.cpu.cpus;
  }
  const auto* bss = skeleton->bss;
  if (bss->lost != 0)
    return Error{Exit::setup,
                 fmt::format("keep the path ledger: {} tasks did not fit", bss->lost),
                 0,
                 {},
                 {}};
  total.syscalls.assign(std::begin(bss->syscalls), std::end(bss->syscalls));

  for (std::size_t i = 0; i < state_->hosts.size(); ++i) {
    std::array<std::uint64_t, 4> kinds{};
    for (std::size_t at = 0; at < 32; ++at) kinds.at(at >> 3) += total.ns[i * 32 + at];
    total.cpu.hosts.push_back({state_->hosts[i].name, kinds[PATH_USER], kinds[PATH_SYSTEM],
                               kinds[PATH_WORK], kinds[PATH_SOFTIRQ]});
    std::uint64_t ran = 0;
    for (const pid_t pid : state_->hosts[i].pids) ran += ran_ns(pid);
    total.task_ns.push_back(ran);
  }
  for (std::size_t at = 0; at < 8; ++at) {
    total.cpu.idle_ns += total.ns[PATH_IDLE + at];
    total.cpu.interrupt_ns += total.ns[PATH_INTERRUPT + at];
    total.cpu.other_ns += total.ns[PATH_OTHER + at] + total.ns[PATH_UNPLACED + at];
  }
  return total;
}

record::Path PathLedger::path_between(const PathReading& begin, const PathReading& end) const
{
  PathReading d = end;
  subtract(d.ns, begin.ns);
  subtract(d.count, begin.count);
  subtract(d.syscalls, begin.syscalls);
  subtract(d.task_ns, begin.task_ns);

  std::set<std::string> blind;
  for (const std::string& function : state_->missing) blind.insert(stage_of_function(function));
  record::Path path;
  path.interrupts = end.interrupts - begin.interrupts;
  path.unbalanced = end.unbalanced - begin.unbalanced;
  path.missing = state_->missing;
  const auto* bss = state_->skeleton->bss;
  for (std::size_t i = 0; i < state_->hosts.size(); ++i) {
    if (i == state_->skeleton->data->fabric) continue;
    record::PathHost host;
    host.host = state_->hosts[i].name;
    for (std::uint32_t kind = 0; kind < 4; ++kind)
      for (std::uint32_t stage = 0; stage < 8; ++stage) {
        std::string name = stage_name(kind, stage);
        if (blind.contains(name) && stage != PATH_BASE) name = stage_name(kind, PATH_BASE);
        host.stage_ns[name] += d.ns[i * 32 + std::size_t{kind} * 8 + stage];
      }
    for (std::uint32_t number = 0; number < PATH_SYSCALLS; ++number)
      if (const auto calls = d.syscalls[i * PATH_SYSCALLS + number]; calls != 0)
        host.syscalls[syscall_name(number)] += calls;
    const auto counted = [&](path_count what) { return d.count[i * PATH_COUNTS + what]; };
    host.borders = counted(PATH_BORDERS);
    host.wakeups = counted(PATH_WAKEUPS);
    host.switches = counted(PATH_SWITCHES);
    host.work_items = counted(PATH_WORK_ITEMS);
    host.softirqs = counted(PATH_SOFTIRQS);
    host.packets_in = counted(PATH_PACKETS_IN);
    host.packets_out = counted(PATH_PACKETS_OUT);
    host.copies_in = counted(PATH_COPIES_IN);
    host.copied_in = counted(PATH_BYTES_IN);
    host.copies_out = counted(PATH_COPIES_OUT);
    host.copied_out = counted(PATH_BYTES_OUT);
    host.checksums = counted(PATH_CHECKSUMS);
    host.task_ns = d.task_ns[i];
    host.stolen_ns = counted(PATH_STOLEN_NS);
    host.waited_ns = counted(PATH_WAITED_NS);
    path.hosts.push_back(std::move(host));
    for (std::size_t size = 0; size < PATH_SIZES; ++size)
      if (const path_wire& w = bss->wire[i * PATH_SIZES + size]; w.frames != 0)
        path.wire.push_back({state_->hosts[i].name, w.frames, w.bytes, w.ns, w.min_ns});
  }
  return path;
}

} // namespace rdmalab::measure
