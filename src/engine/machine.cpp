#include "engine/machine.h"

#include "base/process.h"

#include <cstdio>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::engine {
namespace {

// The minus flags: the guest's kernel would copy by "rep movsb", which TCG counts as one
// instruction a byte.
[[maybe_unused]] constexpr Architecture x86{"x86_64", "qemu-system-x86_64", "pc", "max,-erms,-fsrm",
                                            "ttyS0"};
[[maybe_unused]] constexpr Architecture arm{"aarch64", "qemu-system-aarch64", "virt", "max",
                                            "ttyAMA0"};

} // namespace

const Architecture& architecture()
{
#if defined(__aarch64__)
  return arm;
#else
  return x86;
#endif
}

Result<QemuVersion> qemu_version()
{
  auto run = run_program({architecture().qemu, "--version"});
  const std::string hint =
      std::string("install ") + architecture().qemu + " (scripts/setup does), at least version 9";
  if (!run || run->status != 0)
    return Error{Exit::environment,
                 std::string("run ") + architecture().qemu,
                 run ? 0 : run.error().number,
                 hint,
                 {}};
  int major = 0;
  int minor = 0;
  int patch = 0;
  // NOLINTNEXTLINE(cert-err34-c): the count of fields is what is checked
  if (std::sscanf(run->output.c_str(), "QEMU emulator version %d.%d.%d", &major, &minor, &patch) !=
      3)
    return Error{Exit::environment, "understand QEMU's version: " + run->output, 0, hint, {}};
  return QemuVersion{major * 100 + minor, fmt::format("{}.{}.{}", major, minor, patch)};
}

std::vector<std::string> machine_arguments(Accelerator accelerator, const GuestFiles& files,
                                           bool snapshot)
{
  const Architecture& arch = architecture();
  std::vector<std::string> arguments{arch.qemu,
                                     "-name",
                                     "rdmalab,debug-threads=on",
                                     "-nodefaults",
                                     "-no-user-config",
                                     "-display",
                                     "none",
                                     "-no-reboot",
                                     "-M",
                                     arch.machine,
                                     "-smp",
                                     "1",
                                     "-m",
                                     fmt::format("{}M", guest_memory_mib)};
  const auto add = [&arguments](std::initializer_list<std::string> more) {
    arguments.insert(arguments.end(), more);
  };
  if (accelerator == Accelerator::kvm)
    add({"-accel", "kvm", "-cpu", "host"});
  else
    add({"-accel", "tcg", "-icount", "shift=0,sleep=off,align=off", "-seed", "1", "-rtc",
         "base=2026-01-01,clock=vm", "-cpu", arch.tcg_cpu});

  std::string command_line = fmt::format("console={} quiet loglevel=4 panic=-1 oops=panic "
                                         "mitigations=off nokaslr cryptomgr.notests lsm= "
                                         "random.trust_cpu=on reboot=t",
                                         arch.console);
  if (accelerator == Accelerator::tcg) command_line += " tsc=reliable no_timer_check";
  command_line += " rdmalab.guest=1";
  if (snapshot) command_line += " rdmalab.snapshot=1";
  add({"-kernel", files.kernel.string(), "-initrd", files.initrd.string(), "-append",
       command_line});

  // pvpanic is how the guest stops itself between two instructions, for the snapshot.
  add({"-device", "pvpanic-pci", "-action", "panic=pause"});
  return arguments;
}

} // namespace rdmalab::engine
