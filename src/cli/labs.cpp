#include "cli/labs.h"

#include <algorithm>
#include <system_error>

namespace rdmalab::cli {

namespace fs = std::filesystem;

std::vector<fs::path> lab_folders()
{
  std::vector<fs::path> folders{"labs"};
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error)
    folders.push_back((program.parent_path() / ".." / "share/rdmalab/labs").lexically_normal());
  return folders;
}

Result<std::vector<fs::path>> labs_in(const fs::path& folder)
{
  std::error_code error;
  std::vector<fs::path> labs;
  fs::directory_iterator entries(folder, error);
  if (error) return system_error(error.value(), "list " + folder.string(), Exit::usage);
  for (const fs::directory_entry& entry : entries)
    if (entry.path().extension() == ".yaml") labs.push_back(entry.path());
  std::sort(labs.begin(), labs.end());
  return labs;
}

fs::path find_lab(const std::string& name)
{
  std::error_code error;
  if (fs::exists(name, error) || name.find('/') != std::string::npos) return name;
  for (const fs::path& folder : lab_folders()) {
    fs::path candidate = folder / (fs::path(name).extension() == ".yaml" ? name : name + ".yaml");
    if (fs::exists(candidate, error)) return candidate;
  }
  return name;
}

} // namespace rdmalab::cli
