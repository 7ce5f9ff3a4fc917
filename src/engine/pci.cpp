#include "engine/pci.h"

#include "base/file.h"

#include <filesystem>

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>

namespace rdmalab::engine {

Result<Fd> open_pci_bar(std::uint16_t vendor, std::uint16_t device, int bar)
{
  for (const auto& entry : std::filesystem::directory_iterator("/sys/bus/pci/devices")) {
    TRY_ASSIGN(const std::string its_vendor, read_file(entry.path() / "vendor"));
    TRY_ASSIGN(const std::string its_device, read_file(entry.path() / "device"));
    if (its_vendor != fmt::format("{:#06x}\n", vendor)) continue;
    if (its_device != fmt::format("{:#06x}\n", device)) continue;
    TRY(write_file(entry.path() / "enable", "1"));
    return open_file(entry.path() / fmt::format("resource{}", bar), O_RDWR);
  }
  return Error{
      Exit::guest, fmt::format("find PCI device {:04x}:{:04x}", vendor, device), 0, {}, {}};
}

} // namespace rdmalab::engine
