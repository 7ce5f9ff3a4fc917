#include "traffic/json_socket.h"

#include "base/clock.h"
#include "base/json.h"

#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

namespace rdmalab::traffic {

namespace {

constexpr std::uint32_t max_message = 16U << 20;

Error too_late(const std::string& what)
{
  return {Exit::timeout, what + ": time is up", 0, {}, {}};
}

} // namespace

Result<bool> wait_for(int fd, short events, std::uint64_t deadline_ns)
{
  pollfd p{fd, events, 0};
  while (true) {
    const std::uint64_t now = monotonic_ns();
    const std::uint64_t left = now < deadline_ns ? deadline_ns - now : 0;
    const timespec t{static_cast<time_t>(left / 1'000'000'000),
                     static_cast<long>(left % 1'000'000'000)};
    const int n = ::ppoll(&p, 1, &t, nullptr);
    if (n > 0) return true;
    if (n == 0) return false;
    if (errno != EINTR) return system_error("wait for a descriptor");
  }
}

JsonSocket::JsonSocket(Fd socket, std::string peer)
    : socket_(std::move(socket)), peer_(std::move(peer))
{
  ::fcntl(socket_.get(), F_SETFL, ::fcntl(socket_.get(), F_GETFL) | O_NONBLOCK);
}

Status JsonSocket::send(const Json& message, std::uint64_t deadline_ns)
{
  const std::string what = "send to " + peer_;
  std::string text = to_text(message);
  const std::uint32_t length = htonl(static_cast<std::uint32_t>(text.size()));
  text.insert(0, reinterpret_cast<const char*>(&length), sizeof length);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::send(socket_.get(), text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN) {
      TRY_ASSIGN(const bool ready, wait_for(socket_.get(), POLLOUT, deadline_ns));
      if (!ready) return too_late(what);
    } else if (errno != EINTR) {
      return system_error(what, Exit::traffic);
    }
  }
  return {};
}

Status JsonSocket::read_exactly(char* to, std::size_t bytes, std::uint64_t deadline_ns)
{
  const std::string what = "receive from " + peer_;
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t n = ::recv(socket_.get(), to + done, bytes - done, 0);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
    } else if (n == 0) {
      return Error{Exit::traffic, what + ": it closed the connection", 0, {}, {}};
    } else if (errno == EAGAIN) {
      TRY_ASSIGN(const bool ready, wait_for(socket_.get(), POLLIN, deadline_ns));
      if (!ready) return too_late(what);
    } else if (errno != EINTR) {
      return system_error(what, Exit::traffic);
    }
  }
  return {};
}

Result<Json> JsonSocket::receive(std::uint64_t deadline_ns)
{
  std::uint32_t length = 0;
  TRY(read_exactly(reinterpret_cast<char*>(&length), sizeof length, deadline_ns));
  length = ntohl(length);
  if (length > max_message)
    return Error{
        Exit::traffic, "receive from " + peer_ + ": a message of impossible length", 0, {}, {}};
  std::string text(length, '\0');
  TRY(read_exactly(text.data(), text.size(), deadline_ns));
  return parse_json(text, "message from " + peer_);
}

Result<Json> JsonSocket::exchange(const Json& ours, std::uint64_t deadline_ns)
{
  TRY(send(ours, deadline_ns));
  return receive(deadline_ns);
}

} // namespace rdmalab::traffic
