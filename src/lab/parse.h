#pragma once

#include "lab/diagnostic.h"
#include "lab/lab.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The lab file, version 1 (docs/lab-file.md): YAML text to a checked Lab. Pure but for reading the
/// file.
namespace rdmalab::lab {

struct Parsed {
  std::optional<Lab> lab;              ///< only without diagnostics
  std::vector<Diagnostic> diagnostics; ///< everything that is wrong, in the file's order
};

/// Parses and checks; `filename` is for the messages only.
Parsed parse_all(std::string_view text, const std::string& filename);

/// The Lab, or the first thing that is wrong as an Error of exit code 2 (where:
/// "file:line:column").
Result<Lab> parse(std::string_view text, const std::string& filename);

/// The same for a file. A file that can't be read is a diagnostic without a line.
Parsed load_file_all(const std::filesystem::path& path);
Result<Lab> load_file(const std::filesystem::path& path);

} // namespace rdmalab::lab
