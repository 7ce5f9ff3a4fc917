#include "engine/turns.h"

#include "base/file.h"

#include <string_view>

#include <sys/mman.h>

// The built library, carried in this program: there is no path to find or to get wrong.
asm(".pushsection .rodata\n"
    "rdmalab_turns_begin:\n"
    ".incbin \"" RDMALAB_TURNS_LIBRARY "\"\n"
    "rdmalab_turns_end:\n"
    ".popsection\n");
extern "C" const char rdmalab_turns_begin[];
extern "C" const char rdmalab_turns_end[];

namespace rdmalab::engine {

Result<Fd> turns_library()
{
  Fd fd(::memfd_create("rdmalab-turns", MFD_CLOEXEC));
  if (!fd.valid()) return system_error("create a file for the library preloaded into QEMU");
  TRY(write_all(fd.get(), std::string_view(rdmalab_turns_begin, rdmalab_turns_end),
                "the library preloaded into QEMU"));
  return fd;
}

} // namespace rdmalab::engine
