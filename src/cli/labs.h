#pragma once

#include "base/result.h"

#include <filesystem>
#include <string>
#include <vector>

/// Where lab files are.
namespace rdmalab::cli {

/// ./labs, then the labs that were installed with the program (../share/rdmalab/labs from where it
/// lies).
std::vector<std::filesystem::path> lab_folders();

/// The .yaml files in a folder, in order of their names.
Result<std::vector<std::filesystem::path>> labs_in(const std::filesystem::path& folder);

/// The file that a person means: a path, or the bare name of a lab in one of lab_folders().
/// What is found nowhere comes back as it was, so that opening it gives the error.
std::filesystem::path find_lab(const std::string& name);

} // namespace rdmalab::cli
