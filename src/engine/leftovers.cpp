#include "engine/leftovers.h"

#include "base/file.h"
#include "base/json.h"
#include "net/gc.h"

#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

namespace rdmalab::engine {

RDMALAB_JSON(Leftovers, removed, alive, problems)

namespace {

namespace fs = std::filesystem;

void remove_guest_folders(Leftovers& found)
{
  const char* base = std::getenv("TMPDIR");
  std::error_code error;
  for (const auto& entry :
       fs::directory_iterator(base != nullptr && *base != '\0' ? base : "/tmp", error)) {
    if (!entry.path().filename().string().starts_with("rdmalab-guest-")) continue;
    struct stat status {};
    if (::stat(entry.path().c_str(), &status) != 0 || status.st_uid != ::geteuid()) continue;
    long pid = 0;
    auto text = read_file(entry.path() / "owner");
    if (text) std::from_chars(text->data(), text->data() + text->size(), pid);
    if (pid > 0 && ::kill(static_cast<pid_t>(pid), 0) == 0) {
      found.alive.push_back(entry.path().string());
      continue;
    }
    std::error_code failed;
    fs::remove_all(entry.path(), failed);
    if (failed)
      found.problems.push_back(entry.path().string() + ": " + failed.message());
    else
      found.removed.push_back(entry.path().string());
  }
}

} // namespace

Result<Leftovers> remove_leftovers()
{
  Leftovers found;
  remove_guest_folders(found);
  if (::geteuid() != 0) return found;
  TRY_ASSIGN(const net::GcReport report, net::collect_garbage());
  for (const std::string& name : report.removed) found.removed.push_back("namespace " + name);
  for (const std::string& name : report.alive) found.alive.push_back("run " + name);
  found.problems.insert(found.problems.end(), report.problems.begin(), report.problems.end());
  return found;
}

} // namespace rdmalab::engine
