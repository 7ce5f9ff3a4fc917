#pragma once

#include "base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace rdmalab::engine {

/// What a dynamically linked program needs beside itself (ELF gABI, "Dynamic Section").
struct ElfNeeds {
  std::string interpreter;          ///< PT_INTERP, "" for a library or a static program
  std::vector<std::string> needed;  ///< DT_NEEDED, in order
  std::vector<std::string> runpath; ///< DT_RUNPATH and DT_RPATH, $ORIGIN expanded
};

/// Reads a 64-bit little-endian ELF file; anything else is an Error.
Result<ElfNeeds> read_elf(const std::filesystem::path& path);

/// The part of a program or library that is loaded: without section headers and what only they
/// name, such as debugging information. Anything that isn't ELF comes back as it is.
std::string loadable_part(std::string file);

/// A file of a program's closure: what the loader looks for, and where it lies on this machine.
struct Library {
  std::string soname;         ///< "libnl-3.so.200", or the interpreter's path
  std::filesystem::path path; ///< on this machine
  bool operator<(const Library& other) const { return soname < other.soname; }
};

/// All libraries that the programs need, directly or not, with their interpreters; sorted, each
/// once. Libraries that are dlopened are not seen: name them among the programs.
Result<std::vector<Library>> closure(const std::vector<std::filesystem::path>& programs);

} // namespace rdmalab::engine
