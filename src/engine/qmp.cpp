#include "engine/qmp.h"

#include "base/clock.h"
#include "base/file.h"

#include <array>
#include <cerrno>

#include <poll.h>
#include <unistd.h>

namespace rdmalab::engine {

Result<Json> Qmp::receive(std::uint64_t deadline_ns)
{
  for (;;) {
    if (const size_t end = buffer_.find('\n'); end != std::string::npos) {
      const std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return parse_json(line, "a message of QEMU's monitor");
    }
    const std::uint64_t now = monotonic_ns();
    if (now >= deadline_ns) return Error{Exit::timeout, "wait for QEMU's monitor", 0, {}, {}};
    pollfd wait{socket_.get(), POLLIN, 0};
    const auto left_ms = static_cast<int>((deadline_ns - now) / 1'000'000 + 1);
    if (::poll(&wait, 1, left_ms) < 0 && errno != EINTR) return system_error("poll QEMU's monitor");
    if ((wait.revents & (POLLIN | POLLHUP)) == 0) continue;
    std::array<char, 8192> chunk;
    const ssize_t n = ::read(socket_.get(), chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Error{Exit::guest, "talk to QEMU's monitor: QEMU ended", 0, {}, {}};
    buffer_.append(chunk.data(), static_cast<size_t>(n));
  }
}

Status Qmp::handshake(std::uint64_t deadline_ns)
{
  TRY_ASSIGN(const Json greeting, receive(deadline_ns));
  if (!greeting.contains("QMP"))
    return Error{Exit::guest, "understand QEMU's greeting: " + greeting.dump(), 0, {}, {}};
  auto entered = command("qmp_capabilities", Json::object(), deadline_ns);
  if (!entered) return std::move(entered).error();
  return {};
}

Result<Json> Qmp::command(const std::string& name, const Json& arguments, std::uint64_t deadline_ns)
{
  Json request{{"execute", name}};
  if (!arguments.empty()) request["arguments"] = arguments;
  TRY(write_all(socket_.get(), request.dump() + "\n", "to QEMU's monitor"));
  for (;;) {
    TRY_ASSIGN(const Json answer, receive(deadline_ns));
    if (answer.contains("return")) return answer["return"];
    if (answer.contains("error"))
      return Error{Exit::guest,
                   "QEMU's " + name + ": " + answer["error"].value("desc", std::string("refused")),
                   0,
                   {},
                   {}};
  }
}

} // namespace rdmalab::engine
