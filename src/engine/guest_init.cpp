#include "engine/guest_init.h"

#include "base/clock.h"
#include "base/file.h"
#include "engine/cell.h"
#include "engine/channel.h"
#include "engine/message.h"
#include "engine/pci.h"

#include <sstream>

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace rdmalab::engine {
namespace {

Status mount(const char* type, const char* where)
{
  ::mkdir(where, 0755);
  if (::mount(type, where, type, 0, nullptr) != 0)
    return system_error(std::string("mount ") + type + " on " + where, Exit::guest);
  return {};
}

Status load_modules()
{
  TRY_ASSIGN(const std::string list, read_file("/modules.list"));
  std::istringstream lines(list);
  for (std::string path; std::getline(lines, path);) {
    TRY_ASSIGN(const Fd fd, open_file(path, O_RDONLY));
    if (::syscall(SYS_finit_module, fd.get(), "", 0) != 0 && errno != EEXIST)
      return system_error("load module " + path, Exit::guest);
  }
  return {};
}

Status prepare()
{
  TRY(mount("proc", "/proc"));
  TRY(mount("sysfs", "/sys"));
  // The kernel mounts /dev itself when it is built to; a second mount on top does no harm.
  TRY(mount("devtmpfs", "/dev"));
  TRY(mount("tmpfs", "/tmp"));
  TRY(mount("tmpfs", "/run"));
  TRY(mount("bpf", "/sys/fs/bpf"));
  // Kernel memory that hands pages to an eBPF program or to verbs is charged to this process.
  const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
  ::setrlimit(RLIMIT_MEMLOCK, &unlimited);
  TRY(load_modules());
  // libibverbs reads its configuration and opens its provider at the first call: now, so that each
  // cell finds it done.
  int devices = 0;
  ::ibv_free_device_list(::ibv_get_device_list(&devices));
  return {};
}

/// Stops the virtual machine from inside, between two instructions, by QEMU's pvpanic device: event
/// bit 0 makes it pause (QEMU, docs/specs/pvpanic.rst). Goes on after `cont`, in this QEMU or in
/// one that was given the state.
Status stop_machine()
{
  TRY_ASSIGN(const Fd fd, open_pci_bar(0x1b36, 0x0011, 0));
  void* memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) return system_error("map the pvpanic device", Exit::guest);
  *static_cast<volatile std::uint8_t*>(memory) = 1;
  ::munmap(memory, 4096);
  return {};
}

/// Keeps the processor busy for a while after the resume. Only once QEMU's main loop has gone back
/// to waiting do it and the guest take turns (turns/turns.c): until then the guest must not halt,
/// or the clock may get a skew of some ns.
void settle()
{
  constexpr std::uint64_t busy_ns = 30'000'000;
  const std::uint64_t end = monotonic_ns() + busy_ns;
  while (monotonic_ns() < end) {
  }
}

bool asked_to_snapshot()
{
  auto line = read_file("/proc/cmdline");
  return line && line->find("rdmalab.snapshot=1") != std::string::npos;
}

Result<CellRun> execute(Channel& channel, CellServices services)
{
  TRY_ASSIGN(const std::string text, channel.request());
  TRY_ASSIGN(const Request request, decode_request(text));
  if (request.plan.cells.size() != 1)
    return Error{Exit::guest, "execute a plan that has not exactly one cell", 0, {}, {}};
  channel.set_state(GuestState::running);
  services.first_packet = [&channel] { channel.set_state(GuestState::traffic); };
  return CellRun::execute(request.plan, request.plan.cells.front(), std::move(services));
}

void respond(Channel& channel, const record::Cell& cell)
{
  const std::string text = encode(cell);
  const std::string_view separator("\0", cell.trace.empty() ? 0 : 1);
  channel.write_response({text, separator, cell.trace});
  channel.set_state(GuestState::done);
}

void respond(Channel& channel, const Error& error)
{
  channel.write_response({encode(error)});
  channel.set_state(GuestState::done);
}

Status serve()
{
  const Status prepared = prepare();
  TRY_ASSIGN(Channel channel, Channel::open_guest());
  if (!prepared) {
    respond(channel, prepared.error());
    return {};
  }
  // Loading a ledger reads all of the kernel's BTF: once, before the snapshot. The path ledger is
  // for few cells, so that a guest without a snapshot leaves it to them.
  auto ledger = measure::CpuLedger::load(true);
  CellServices services;
  const bool snapshot = asked_to_snapshot();
  if (snapshot)
    if (auto path = measure::PathLedger::load(true)) services.path_ledger = std::move(path).value();
  channel.set_state(GuestState::ready);
  if (snapshot) {
    TRY(stop_machine());
    settle();
  }
  if (!ledger) {
    respond(channel, ledger.error());
    return {};
  }
  services.cpu_ledger = std::move(ledger).value();
  auto run = execute(channel, std::move(services));
  if (!run) {
    respond(channel, run.error());
    return {};
  }
  respond(channel, run->record());
  run->abandon();
  return {};
}

} // namespace

bool in_guest()
{
  // The kernel starts /init of an initramfs with nothing mounted; a container's PID 1 has a /proc.
  return ::access("/modules.list", F_OK) == 0 && ::access("/proc/self", F_OK) != 0;
}

void guest_init()
{
  if (Status served = serve(); !served) {
    if (auto fd = open_file("/dev/kmsg", O_WRONLY))
      (void)write_all(fd->get(), "<0>rdmalab: " + served.error().message() + "\n", "/dev/kmsg");
  }
  ::reboot(RB_AUTOBOOT);
  for (;;) ::pause();
}

} // namespace rdmalab::engine
