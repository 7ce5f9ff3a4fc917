#include "traffic/oob.h"

#include "base/clock.h"
#include "base/json.h"
#include "traffic/socket_option.h"

#include <algorithm>
#include <cerrno>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace rdmalab::traffic {

RDMALAB_JSON(Totals, posted, completed, outcome)

namespace {

constexpr std::uint64_t retry_interval_ns = 10'000'000;
constexpr std::uint64_t attempt_ns =
    3'000'000'000; // long enough for one lost SYN and its repetition

Result<sockaddr_in> address_of(const std::string& ip, std::uint16_t port)
{
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (::inet_pton(AF_INET, ip.c_str(), &address.sin_addr) != 1)
    return Error{Exit::setup, "read IPv4 address '" + ip + "'", 0, {}, {}};
  return address;
}

std::string name_of(const std::string& ip, std::uint16_t port)
{
  return ip + ":" + std::to_string(port);
}

const sockaddr* generic(const sockaddr_in& address)
{
  return reinterpret_cast<const sockaddr*>(&address);
}

Status set_congestion(int fd, const std::string& name)
{
  if (::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(),
                   static_cast<socklen_t>(name.size())) == 0)
    return {};
  return system_error("choose TCP congestion control '" + name + "'", Exit::environment,
                      "load it (modprobe tcp_" + name +
                          ") or choose one of /proc/sys/net/ipv4/tcp_available_congestion_control");
}

void set_blocking(int fd, bool blocking)
{
  const int flags = ::fcntl(fd, F_GETFL);
  ::fcntl(fd, F_SETFL, blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

/// One attempt. 0: connected; otherwise the errno.
Result<int> try_connect(int fd, const sockaddr_in& peer, std::uint64_t deadline_ns)
{
  if (::connect(fd, generic(peer), sizeof peer) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  TRY_ASSIGN(const bool ready, wait_for(fd, POLLOUT, deadline_ns));
  if (!ready) return ETIMEDOUT;
  int number = 0;
  socklen_t length = sizeof number;
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &number, &length) != 0)
    return system_error("read a connection's state");
  return number;
}

} // namespace

Result<Fd> listen_on(const std::string& local_ip, std::uint16_t port, int backlog)
{
  TRY_ASSIGN(const sockaddr_in address, address_of(local_ip, port));
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return system_error("make a TCP socket");
  TRY(set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR"));
  if (::bind(fd.get(), generic(address), sizeof address) != 0 || ::listen(fd.get(), backlog) != 0)
    return system_error("listen on " + name_of(local_ip, port));
  return fd;
}

Result<Fd> accept_one(int listener, std::uint64_t deadline_ns)
{
  while (true) {
    Fd fd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    if (fd.valid()) {
      TRY(set_option(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY"));
      return fd;
    }
    if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
      return system_error("accept the initiator's connection", Exit::traffic);
    TRY_ASSIGN(const bool ready, wait_for(listener, POLLIN, deadline_ns));
    if (!ready)
      return Error{Exit::timeout, "wait for the initiator's connection: nobody came", 0, {}, {}};
  }
}

Result<Fd> connect_to(const std::string& local_ip, const std::string& peer_ip, std::uint16_t port,
                      const std::string& congestion, std::uint64_t deadline_ns)
{
  const std::string what = "connect to " + name_of(peer_ip, port);
  TRY_ASSIGN(const sockaddr_in local, address_of(local_ip, 0));
  TRY_ASSIGN(const sockaddr_in peer, address_of(peer_ip, port));
  while (true) {
    Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.valid()) return system_error("make a TCP socket");
    if (!congestion.empty()) TRY(set_congestion(fd.get(), congestion));
    TRY(set_option(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY"));
    if (::bind(fd.get(), generic(local), sizeof local) != 0)
      return system_error("bind to " + local_ip);
    const std::uint64_t until = std::min(deadline_ns, monotonic_ns() + attempt_ns);
    TRY_ASSIGN(const int number, try_connect(fd.get(), peer, until));
    if (number == 0) {
      set_blocking(fd.get(), true);
      return fd;
    }
    const std::uint64_t next = monotonic_ns() + retry_interval_ns;
    if (next >= deadline_ns)
      return system_error(number, what, Exit::timeout,
                          "is the target's endpoint alive and the fabric up?");
    sleep_until_ns(next);
  }
}

Result<JsonSocket> meet_peer(const EndpointSpec& spec, std::uint64_t deadline_ns)
{
  if (spec.role == Role::initiator) {
    TRY_ASSIGN(Fd fd, connect_to(spec.local_ip, spec.peer_ip, spec.port, {}, deadline_ns));
    return JsonSocket(std::move(fd), "the target");
  }
  TRY_ASSIGN(const Fd listener, listen_on(spec.local_ip, spec.port, 1));
  TRY_ASSIGN(Fd fd, accept_one(listener.get(), deadline_ns));
  return JsonSocket(std::move(fd), "the initiator");
}

} // namespace rdmalab::traffic
