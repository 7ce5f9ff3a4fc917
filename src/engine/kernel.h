#pragma once

#include "base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace rdmalab::engine {

/// A guest kernel as a Debian package unpacks it:
/// <root>/usr/lib/modules/<release>/{vmlinuz,modules.dep,kernel/…}.
struct Kernel {
  std::filesystem::path root;
  std::string release;

  [[nodiscard]] std::filesystem::path modules() const { return root / "usr/lib/modules" / release; }
  [[nodiscard]] std::filesystem::path image() const { return modules() / "vmlinuz"; }
};

/// Finds the kernel: $RDMALAB_KERNEL, else <cache>/kernel/current, else /usr/lib/rdmalab/kernel.
/// An Error (exit environment) names the remedy.
Result<Kernel> find_kernel();

/// The ELF kernel inside an x86 bzImage, which QEMU starts by PVH without running the kernel's own
/// unpacker (Documentation/arch/x86/boot.rst, payload_offset). Other images come back as they are.
Result<std::string> kernel_elf(const std::filesystem::path& image);

/// A module and what must be loaded before it, as paths below modules(); each once, in loading
/// order. A name that is neither a module nor listed is left out: it may be built in.
Result<std::vector<std::string>> module_order(const Kernel& kernel,
                                              const std::vector<std::string>& names);

/// rdmalab's cache folder: $RDMALAB_CACHE, else $XDG_CACHE_HOME/rdmalab, else ~/.cache/rdmalab.
std::filesystem::path cache_folder();

} // namespace rdmalab::engine
