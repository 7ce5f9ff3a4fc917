#include "base/file.h"

#include <array>
#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <sys/stat.h>

namespace rdmalab {

Result<Fd> open_file(const std::filesystem::path& path, int flags, unsigned mode)
{
  Fd fd(::open(path.c_str(), flags | O_CLOEXEC, mode));
  if (!fd.valid()) return system_error("open " + path.string());
  return fd;
}

Result<std::string> read_file(const std::filesystem::path& path)
{
  TRY_ASSIGN(Fd fd, open_file(path, O_RDONLY));
  std::string text;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error("read " + path.string());
    if (n == 0) return text;
    text.append(buffer.data(), static_cast<size_t>(n));
  }
}

Status write_all(int fd, std::string_view text, const std::string& what)
{
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error("write " + what);
    text.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Status write_file(const std::filesystem::path& path, std::string_view text)
{
  TRY_ASSIGN(Fd fd, open_file(path, O_WRONLY | O_CREAT | O_TRUNC));
  return write_all(fd.get(), text, path.string());
}

Status write_file_atomically(const std::filesystem::path& path, std::string_view text)
{
  std::string beside = path.string() + ".XXXXXX";
  Fd fd(::mkostemp(beside.data(), O_CLOEXEC));
  if (!fd.valid()) return system_error("create " + beside);
  ::fchmod(fd.get(), 0644);
  Status written = write_all(fd.get(), text, beside);
  if (written && ::rename(beside.c_str(), path.c_str()) != 0)
    written = system_error("rename " + beside + " to " + path.string());
  if (!written) ::unlink(beside.c_str());
  return written;
}

Result<TemporaryFolder> TemporaryFolder::create(const std::string& prefix)
{
  const char* base = std::getenv("TMPDIR");
  std::string path =
      std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/" + prefix + "XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return system_error("create folder " + path);
  return TemporaryFolder(path);
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::move(other.path_))
{
  other.path_.clear();
}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept
{
  if (this != &other) {
    remove();
    path_ = std::move(other.path_);
    other.path_.clear();
  }
  return *this;
}

TemporaryFolder::~TemporaryFolder()
{
  remove();
}

void TemporaryFolder::remove()
{
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

} // namespace rdmalab
