#pragma once

#include "base/fd.h"
#include "base/result.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace rdmalab {

/// Reads a whole file, also one of /proc or /sys whose size is not known before.
Result<std::string> read_file(const std::filesystem::path& path);

/// Writes a whole file (created 0644, or truncated).
Status write_file(const std::filesystem::path& path, std::string_view text);

/// Writes beside the target and renames, so that a reader sees the old file or the new one.
Status write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// Writes all of it to a descriptor, however many calls that takes.
Status write_all(int fd, std::string_view text, const std::string& what);

/// Opens a file; the Error names path and purpose.
Result<Fd> open_file(const std::filesystem::path& path, int flags, unsigned mode = 0644);

/// A folder that is removed with all that is in it when the object dies.
class TemporaryFolder {
public:
  /// Made below $TMPDIR or /tmp, as `prefix` and six random letters.
  static Result<TemporaryFolder> create(const std::string& prefix);
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  void remove();
  std::filesystem::path path_;
};

} // namespace rdmalab
