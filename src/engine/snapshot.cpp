#include "engine/snapshot.h"

#include "base/file.h"
#include "base/json.h"
#include "base/sha256.h"
#include "engine/image.h"

#include <algorithm>
#include <vector>

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>

namespace rdmalab::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t boot_timeout_ns = 180'000'000'000;
/// Changed when the layout of the cache or the guest's arguments change.
constexpr const char* layout = "1";

Result<Fd> lock(const fs::path& path)
{
  TRY_ASSIGN(Fd fd, open_file(path, O_RDWR | O_CREAT));
  while (::flock(fd.get(), LOCK_EX) != 0)
    if (errno != EINTR) return system_error("lock " + path.string());
  return fd;
}

/// Each image with its snapshot is 200 MB; those not used for longest go. A few are kept for labs
/// that carry programs along.
void remove_unused(const fs::path& folder, const fs::path& keep)
{
  constexpr size_t most = 4;
  std::error_code ignored;
  std::vector<std::pair<fs::file_time_type, fs::path>> others;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.is_directory(ignored) && entry.path() != keep)
      others.emplace_back(entry.last_write_time(ignored), entry.path());
  std::sort(others.begin(), others.end());
  for (size_t i = 0; i + (most - 1) < others.size(); ++i) fs::remove_all(others[i].second, ignored);
}

Status make_files(const ImageInputs& inputs, const fs::path& folder)
{
  TRY_ASSIGN(const std::string kernel, kernel_elf(inputs.kernel.image()));
  TRY_ASSIGN(const std::string image, build_image(inputs));
  TRY(write_file_atomically(folder / "kernel", kernel));
  return write_file_atomically(folder / "initrd", image);
}

Status make_snapshot(const GuestFiles& files, const fs::path& folder)
{
  Guest::Options options;
  options.files = files;
  options.snapshot = true;
  TRY_ASSIGN(Guest guest, Guest::start(options, {}));
  const fs::path beside = folder / "snapshot.new";
  TRY(guest.save(beside, boot_timeout_ns));
  TRY_ASSIGN(const std::string digest, sha256_file(beside));
  std::error_code error;
  fs::rename(beside, folder / "snapshot", error);
  if (error) return system_error(error.value(), "name the guest's snapshot");
  return write_file_atomically(folder / "snapshot.digest", digest);
}

} // namespace

Result<GuestImage> guest_image(bool with_snapshot, const ImageExtras& extras,
                               const std::function<void(const std::string&)>& say)
{
  TRY_ASSIGN(const QemuVersion qemu, qemu_version());
  TRY_ASSIGN(const Kernel kernel, find_kernel());
  TRY_ASSIGN(const ImageInputs inputs, image_inputs(kernel, extras));
  TRY_ASSIGN(const std::string content_key, image_key(inputs));
  std::string all = content_key + qemu.text + layout;
  for (const std::string& argument :
       machine_arguments(Accelerator::tcg, {"kernel", "initrd"}, true))
    all += argument + "\n";
  const std::string key = sha256(all).substr(7, 16);

  const fs::path top = cache_folder() / "guest";
  const fs::path folder = top / key;
  GuestImage image{{folder / "kernel", folder / "initrd"}, kernel.release, qemu.text, {}, {}};
  std::error_code error;
  const auto complete = [&] {
    return fs::exists(image.files.initrd, error) &&
           (!with_snapshot || fs::exists(folder / "snapshot.digest", error));
  };
  if (!complete()) {
    fs::create_directories(folder, error);
    if (error)
      return system_error(error.value(), "create " + folder.string(), Exit::environment,
                          "set RDMALAB_CACHE to a folder that can be written");
    TRY_ASSIGN(const Fd held, lock(top / "lock"));
    if (!fs::exists(image.files.initrd, error)) {
      say("building the guest image (kernel " + kernel.release + ")");
      TRY(make_files(inputs, folder));
      remove_unused(top, folder);
    }
    if (with_snapshot && !fs::exists(folder / "snapshot.digest", error)) {
      say("booting a guest once, for its snapshot");
      TRY(make_snapshot(image.files, folder));
    }
  }
  // Says "used now" to remove_unused(); in a container the cache may be read-only.
  fs::last_write_time(folder, fs::file_time_type::clock::now(), error);
  if (with_snapshot) {
    image.snapshot = folder / "snapshot";
    TRY_ASSIGN(image.snapshot_digest, read_file(folder / "snapshot.digest"));
  }
  return image;
}

} // namespace rdmalab::engine
