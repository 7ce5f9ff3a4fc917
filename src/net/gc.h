#pragma once

#include "base/json_fwd.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace rdmalab::net {

/// Who made the namespaces of a run: enough to tell a living process from another one with its
/// number.
struct Owner {
  std::int64_t pid = 0;
  std::uint64_t start = 0; ///< field 22 of /proc/PID/stat, clock ticks since boot
  std::string boot_id;     ///< /proc/sys/kernel/random/boot_id
  std::vector<std::string> namespaces;
};
RDMALAB_JSON_DECLARE(Owner)

/// The calling process, without namespaces.
Result<Owner> this_process();
/// Whether that very process lives, in this boot.
bool is_alive(const Owner& owner);

/// The record /run/rdmalab/RUN/owner of a run; removed when the object dies. Claim it before the
/// first namespace is made, so that a killed run can be cleaned up at any moment. Move-only.
class RunOwner {
public:
  /// EEXIST if a run of that name lives.
  static Result<RunOwner> claim(const std::string& run, const std::vector<std::string>& namespaces,
                                const std::filesystem::path& folder = default_folder());
  RunOwner(RunOwner&& other) noexcept;
  RunOwner& operator=(RunOwner&&) = delete;
  RunOwner(const RunOwner&) = delete;
  RunOwner& operator=(const RunOwner&) = delete;
  ~RunOwner();

  static const std::filesystem::path& default_folder(); ///< /run/rdmalab

private:
  explicit RunOwner(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

struct GcReport {
  std::vector<std::string> removed; ///< namespaces of dead runs
  std::vector<std::string> alive;   ///< runs that were left alone
  std::vector<std::string> problems;
};
RDMALAB_JSON_DECLARE(GcReport)

/// Removes what runs left behind whose process is gone: rxe devices, then namespaces (links go with
/// them), then the record. Only namespaces named "rl-…" that stand in such a record are touched,
/// nobody else's.
Result<GcReport> collect_garbage(const std::filesystem::path& folder = RunOwner::default_folder());

} // namespace rdmalab::net
