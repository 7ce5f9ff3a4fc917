#include "engine/kernel.h"

#include "base/file.h"
#include "engine/decompress.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <sstream>

namespace rdmalab::engine {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name)
{
  const char* value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string{value};
}

/// "kernel/drivers/net/veth.ko.xz" to "veth"; modprobe takes - and _ for the same.
std::string module_name(const std::string& path)
{
  std::string name = fs::path(path).filename().string();
  name = name.substr(0, name.find(".ko"));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

Result<Kernel> kernel_in(const fs::path& root)
{
  std::error_code ignored;
  std::vector<std::string> releases;
  for (const auto& entry : fs::directory_iterator(root / "usr/lib/modules", ignored))
    if (fs::exists(entry.path() / "vmlinuz", ignored) &&
        fs::exists(entry.path() / "modules.dep", ignored))
      releases.push_back(entry.path().filename().string());
  if (releases.empty())
    return Error{Exit::environment,
                 "find a guest kernel in " + root.string(),
                 0,
                 "scripts/fetch-kernel fetches one",
                 {}};
  return Kernel{fs::canonical(root), *std::max_element(releases.begin(), releases.end())};
}

} // namespace

fs::path cache_folder()
{
  if (const std::string cache = environment("RDMALAB_CACHE"); !cache.empty()) return cache;
  if (const std::string xdg = environment("XDG_CACHE_HOME"); !xdg.empty())
    return fs::path(xdg) / "rdmalab";
  const std::string home = environment("HOME");
  return fs::path(home.empty() ? "/root" : home) / ".cache/rdmalab";
}

Result<Kernel> find_kernel()
{
  if (const std::string named = environment("RDMALAB_KERNEL"); !named.empty())
    return kernel_in(named);
  auto cached = kernel_in(cache_folder() / "kernel/current");
  if (cached) return cached;
  auto installed = kernel_in("/usr/lib/rdmalab/kernel");
  return installed ? std::move(installed) : std::move(cached);
}

Result<std::string> kernel_elf(const fs::path& image)
{
  TRY_ASSIGN(std::string file, read_file(image));
  constexpr size_t header_end = 0x250;
  if (file.size() < header_end || file.compare(0x202, 4, "HdrS") != 0) return file;
  const auto word = [&file](size_t offset) {
    std::uint32_t value = 0;
    std::memcpy(&value, file.data() + offset, sizeof value);
    return value;
  };
  const size_t start = (static_cast<unsigned char>(file[0x1f1]) + size_t{1}) * 512 + word(0x248);
  const size_t length = word(0x24c);
  if (start > file.size() || length > file.size() - start)
    return Error{Exit::environment,
                 "read the payload of " + image.string(),
                 0,
                 "the kernel image is cut short; fetch it again",
                 {}};
  return decompress(std::string_view(file).substr(start, length), image.string());
}

Result<std::vector<std::string>> module_order(const Kernel& kernel,
                                              const std::vector<std::string>& names)
{
  TRY_ASSIGN(const std::string text, read_file(kernel.modules() / "modules.dep"));
  std::map<std::string, std::vector<std::string>> needs; // path to the paths it needs
  std::map<std::string, std::string> paths;              // name to path
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string path = line.substr(0, colon);
    paths[module_name(path)] = path;
    std::istringstream rest(line.substr(colon + 1));
    for (std::string need; rest >> need;) needs[path].push_back(need);
  }

  std::vector<std::string> order;
  std::set<std::string> done;
  for (const std::string& name : names) {
    const auto path = paths.find(name);
    if (path == paths.end()) continue;
    // modules.dep lists what a module needs completely, the deepest last.
    std::vector<std::string> list{path->second};
    list.insert(list.end(), needs[path->second].begin(), needs[path->second].end());
    std::reverse(list.begin(), list.end());
    for (std::string& file : list)
      if (done.insert(file).second) order.push_back(std::move(file));
  }
  return order;
}

} // namespace rdmalab::engine
