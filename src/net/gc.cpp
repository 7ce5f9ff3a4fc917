#include "net/gc.h"

#include "base/file.h"
#include "base/json.h"
#include "net/netns.h"
#include "net/rdma.h"
#include "net/socket.h"

#include <algorithm>
#include <cerrno>
#include <sstream>

#include <linux/netlink.h>
#include <spdlog/spdlog.h>
#include <sys/mount.h>
#include <unistd.h>

namespace rdmalab::net {

namespace fs = std::filesystem;

RDMALAB_JSON(Owner, pid, start, boot_id, namespaces)
RDMALAB_JSON(GcReport, removed, alive, problems)

namespace {

constexpr const char* prefix = "rl-";

Result<std::string> boot_id()
{
  TRY_ASSIGN(std::string text, read_file("/proc/sys/kernel/random/boot_id"));
  text.erase(text.find_last_not_of('\n') + 1);
  return text;
}

/// Field 22 of /proc/PID/stat; the command in field 2 may hold spaces and parentheses.
Result<std::uint64_t> start_time(std::int64_t pid)
{
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  TRY_ASSIGN(const std::string text, read_file(path));
  const std::size_t end = text.rfind(')');
  if (end == std::string::npos) return system_error(EBADMSG, "read " + path);
  std::istringstream fields(text.substr(end + 1));
  std::string field;
  for (int number = 3; number < 22; ++number) fields >> field;
  std::uint64_t start = 0;
  if (!(fields >> start)) return system_error(EBADMSG, "read " + path);
  return start;
}

Result<Owner> read_owner(const fs::path& path)
{
  TRY_ASSIGN(const std::string text, read_file(path));
  TRY_ASSIGN(const Json json, parse_json(text, path.string()));
  return from_json_value<Owner>(json, path.string());
}

/// A run that was killed between making the file and mounting the namespace on it leaves a plain
/// file: then there is nothing to empty.
Status empty_namespace(const std::string& name)
{
  const auto ns = NetNamespace::open(name);
  if (!ns) return {};
  Status status = run_in(*ns, []() -> Status {
    auto socket = NlSocket::open(NETLINK_RDMA);
    if (!socket) return {}; // no RDMA in this kernel, so nothing of it is left
    return remove_rdma_of_namespace(*socket);
  });
  if (!status && status.error().number == EINVAL) return {}; // setns() on a plain file
  return status;
}

Status remove_namespace(const std::string& name)
{
  const std::string path = netns_folder() + "/" + name;
  if (::umount2(path.c_str(), MNT_DETACH) < 0 && errno != EINVAL && errno != ENOENT)
    return system_error("unmount " + path);
  if (::unlink(path.c_str()) < 0 && errno != ENOENT) return system_error("remove " + path);
  return {};
}

/// The namespaces of a record that are there and may be ours.
std::vector<std::string> ours(const Owner& owner)
{
  std::vector<std::string> names;
  std::error_code ignored;
  for (const std::string& name : owner.namespaces)
    if (name.starts_with(prefix) && name.find('/') == std::string::npos &&
        fs::exists(netns_folder() + "/" + name, ignored))
      names.push_back(name);
  return names;
}

/// True if nothing of the run is left.
bool remove_run(const Owner& owner, GcReport& report)
{
  bool clean = true;
  const auto attempt = [&](const Status& status) {
    if (!status) report.problems.push_back(status.error().message());
    clean = clean && status.ok();
    return status.ok();
  };
  // All rxe devices first: a namespace that goes takes the other ends of its veths along, too.
  const std::vector<std::string> names = ours(owner);
  for (const std::string& name : names) attempt(empty_namespace(name));
  for (const std::string& name : names)
    if (attempt(remove_namespace(name))) report.removed.push_back(name);
  return clean;
}

} // namespace

Result<Owner> this_process()
{
  Owner owner;
  owner.pid = ::getpid();
  TRY_ASSIGN(owner.start, start_time(owner.pid));
  TRY_ASSIGN(owner.boot_id, boot_id());
  return owner;
}

bool is_alive(const Owner& owner)
{
  const auto boot = boot_id();
  if (!boot || *boot != owner.boot_id) return false;
  const auto start = start_time(owner.pid);
  return start && *start == owner.start;
}

const fs::path& RunOwner::default_folder()
{
  static const fs::path folder = "/run/rdmalab";
  return folder;
}

Result<RunOwner> RunOwner::claim(const std::string& run, const std::vector<std::string>& namespaces,
                                 const fs::path& folder)
{
  const fs::path path = folder / run;
  if (const auto other = read_owner(path / "owner"); other && is_alive(*other))
    return system_error(EEXIST, "claim " + path.string());
  std::error_code failed;
  fs::create_directories(path, failed);
  if (failed) return system_error(failed.value(), "create " + path.string());
  TRY_ASSIGN(Owner owner, this_process());
  owner.namespaces = namespaces;
  TRY(write_file_atomically(path / "owner", Json(owner).dump() + "\n"));
  return RunOwner(path);
}

RunOwner::RunOwner(RunOwner&& other) noexcept : path_(std::exchange(other.path_, {})) {}

RunOwner::~RunOwner()
{
  if (path_.empty()) return;
  std::error_code failed;
  fs::remove_all(path_, failed);
  if (failed) spdlog::warn("remove {}: {}", path_.string(), failed.message());
}

Result<GcReport> collect_garbage(const fs::path& folder)
{
  GcReport report;
  std::error_code failed;
  if (!fs::exists(folder, failed)) return report;
  std::vector<fs::path> runs;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    if (fs::exists(entry.path() / "owner")) runs.push_back(entry.path());
  if (failed) return system_error(failed.value(), "list " + folder.string());
  std::sort(runs.begin(), runs.end());
  for (const fs::path& run : runs) {
    const auto owner = read_owner(run / "owner");
    if (!owner) {
      report.problems.push_back(owner.error().message());
      continue;
    }
    if (is_alive(*owner)) {
      report.alive.push_back(run.filename().string());
      continue;
    }
    if (remove_run(*owner, report))
      fs::remove_all(run, failed); // otherwise the next gc tries again
  }
  return report;
}

} // namespace rdmalab::net
