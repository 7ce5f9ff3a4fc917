#include "engine/kernel_log.h"

#include "base/file.h"

#include <array>
#include <cerrno>
#include <charconv>

#include <fcntl.h>
#include <unistd.h>

namespace rdmalab::engine {

Result<KernelLog> KernelLog::open()
{
  TRY_ASSIGN(Fd fd, open_file("/dev/kmsg", O_RDONLY | O_NONBLOCK));
  if (::lseek(fd.get(), 0, SEEK_END) < 0) return system_error("go to the end of /dev/kmsg");
  return KernelLog(std::move(fd));
}

std::vector<std::string> KernelLog::warnings()
{
  constexpr int warning = 4;
  std::vector<std::string> found;
  std::array<char, 8192> buffer;
  for (;;) {
    const ssize_t n = ::read(fd_.get(), buffer.data(), buffer.size());
    // EPIPE: the ring went round before this record was read; the next read goes on behind the gap.
    if (n < 0 && (errno == EINTR || errno == EPIPE)) continue;
    if (n <= 0) return found;
    const KernelMessage message =
        parse_kernel_message(std::string(buffer.data(), static_cast<size_t>(n)));
    if (message.level >= 0 && message.level <= warning) found.push_back(message.text);
  }
}

KernelMessage parse_kernel_message(const std::string& record)
{
  unsigned priority = 0;
  const auto [end, error] = std::from_chars(record.data(), record.data() + record.size(), priority);
  const size_t semicolon = record.find(';');
  if (error != std::errc{} || *end != ',' || semicolon == std::string::npos) return {};
  // Lines after the first are key=value pairs about the device.
  const size_t line_end = record.find('\n', semicolon);
  return {static_cast<int>(priority & 7), record.substr(semicolon + 1, line_end - semicolon - 1)};
}

} // namespace rdmalab::engine
