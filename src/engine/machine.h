#pragma once

#include "base/json.h"
#include "base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace rdmalab::engine {

enum class Accelerator { kvm, tcg };

/// What depends on the processor family of the guest; the rest of the vm engine doesn't know it.
struct Architecture {
  const char* name;    ///< uname -m
  const char* qemu;    ///< program
  const char* machine; ///< -M
  const char* tcg_cpu; ///< -cpu under TCG
  const char* console; ///< the kernel's name of the first serial port
};

/// The family that this program is built for.
const Architecture& architecture();

/// The files that a guest is made of.
struct GuestFiles {
  std::filesystem::path kernel;
  std::filesystem::path initrd;
};

/// Bytes of guest memory. Generous for a TCP queue and a WRITE ring; only pages that are touched
/// count.
inline constexpr unsigned guest_memory_mib = 1024;

/// QEMU's version as major*100 + minor and as text; an Error (environment) if it can't be run.
struct QemuVersion {
  int number = 0;
  std::string text;
};
Result<QemuVersion> qemu_version();

/// The oldest QEMU whose guests repeat under instruction counting: 7.2 was seen to differ, 10.0
/// not.
inline constexpr int repeatable_qemu = 900;

/// QEMU's arguments for a guest, without channel, monitor and console. The same for the guest that
/// is snapshotted and the ones restored from it, as migration demands. With TCG the clock is
/// virtual: one instruction is one ns, idle time is skipped, all of the guest's random numbers come
/// from the seed.
std::vector<std::string> machine_arguments(Accelerator accelerator, const GuestFiles& files,
                                           bool snapshot);

} // namespace rdmalab::engine
