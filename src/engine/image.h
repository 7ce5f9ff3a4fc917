#pragma once

#include "base/result.h"
#include "engine/elf.h"
#include "engine/kernel.h"

#include <filesystem>
#include <string>
#include <vector>

namespace rdmalab::engine {

/// What goes into a guest: rdmalab itself as /init, its libraries, the verbs provider, the kernel's
/// modules. No shell, no busybox.
struct ImageInputs {
  Kernel kernel;
  std::filesystem::path program;    ///< the running rdmalab
  std::vector<std::string> modules; ///< module files in loading order, below kernel.modules()
  std::vector<std::filesystem::path> files;    ///< put into /files
  std::vector<std::filesystem::path> commands; ///< put into /usr/bin
  std::vector<std::string> drivers;            ///< whose verbs providers come along
  std::vector<std::filesystem::path>
      programs;                   ///< whose libraries come along: rdmalab, the providers
  std::vector<Library> libraries; ///< of all programs
};

/// What a lab needs beside rdmalab itself.
struct ImageExtras {
  std::vector<std::string>
      programs; ///< by name or path; found as a shell would find them, carried with their libraries
  std::vector<std::string> files;
  bool iwarp = false; ///< siw, its module and its verbs provider
};

/// Collects the inputs from this machine.
Result<ImageInputs> image_inputs(const Kernel& kernel, const ImageExtras& extras);

/// Names what the image is made of: changes when a file does (path, size, time of change). Quick.
Result<std::string> image_key(const ImageInputs& inputs);

/// The initramfs. Takes about a second: every module is unpacked here, so that the guest needn't.
Result<std::string> build_image(const ImageInputs& inputs);

} // namespace rdmalab::engine
