#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace rdmalab::engine {

/// An initramfs in the "newc" format (Documentation/driver-api/early-userspace/buffer-format.rst),
/// made in memory. Equal content gives equal bytes: entries are sorted, times and owners are zero.
class CpioArchive {
public:
  /// Adds a file; folders above it come by themselves. `path` has no leading slash.
  void add_file(const std::string& path, std::string content, unsigned mode = 0644);
  void add_folder(const std::string& path);
  void add_symlink(const std::string& path, const std::string& target);

  /// The archive with its trailer.
  [[nodiscard]] std::string bytes() const;

private:
  struct Entry {
    unsigned mode = 0;
    std::string content;
  };
  void add_parents(const std::string& path);
  std::map<std::string, Entry> entries_;
};

} // namespace rdmalab::engine
