#include "traffic/tcp_stream.h"

#include "base/clock.h"
#include "traffic/json_socket.h"
#include "traffic/socket_option.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace rdmalab::traffic {

namespace {

Status set_nonblocking(int fd)
{
  if (::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK) != 0)
    return system_error("make a stream non-blocking");
  return {};
}

Status set_patience(int fd, int option, std::uint64_t until_ns, const char* name)
{
  const std::uint64_t now = monotonic_ns();
  const std::uint64_t us = std::max<std::uint64_t>(1, (until_ns - std::min(now, until_ns)) / 1000);
  const timeval patience{static_cast<time_t>(us / 1'000'000),
                         static_cast<suseconds_t>(us % 1'000'000)};
  if (::setsockopt(fd, SOL_SOCKET, option, &patience, sizeof patience) != 0)
    return system_error(std::string("set socket option ") + name);
  return {};
}

/// tcpi_total_rto (Linux 6.7) follows tcpi_rehash; the headers of Debian 12 end before it.
constexpr std::size_t total_rto_offset =
    offsetof(tcp_info, tcpi_snd_wnd) + 3 * sizeof(std::uint32_t);

} // namespace

Status send_greeting(int fd, std::uint64_t word)
{
  // The first bytes of a connection always find room in its send buffer.
  if (::send(fd, &word, sizeof word, MSG_NOSIGNAL) != sizeof word)
    return system_error("greet the target", Exit::traffic);
  return {};
}

Result<std::uint64_t> receive_greeting(int fd, std::uint64_t deadline_ns)
{
  std::array<char, sizeof(std::uint64_t)> bytes{};
  for (std::size_t done = 0; done < bytes.size();) {
    TRY_ASSIGN(const bool ready, wait_for(fd, POLLIN, deadline_ns));
    if (!ready) return Error{Exit::timeout, "wait for the initiator's greeting", 0, {}, {}};
    const ssize_t n = ::recv(fd, bytes.data() + done, bytes.size() - done, MSG_DONTWAIT);
    if (n == 0)
      return Error{Exit::traffic, "the initiator closed a connection without greeting", 0, {}, {}};
    if (n < 0 && errno != EAGAIN && errno != EINTR)
      return system_error("receive the initiator's greeting", Exit::traffic);
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data(), sizeof word);
  return word;
}

Status prepare_sender(int fd, bool nodelay, std::uint64_t unsent_bytes)
{
  TRY(set_nonblocking(fd));
  TRY(set_option(fd, IPPROTO_TCP, TCP_NODELAY, nodelay ? 1 : 0, "TCP_NODELAY"));
  if (unsent_bytes == 0) return {};
  return set_option(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT,
                    static_cast<int>(std::min<std::uint64_t>(unsent_bytes, 1U << 30)),
                    "TCP_NOTSENT_LOWAT");
}

Status prepare_receiver(int fd)
{
  return set_nonblocking(fd);
}

Status send_at_once(int fd)
{
  return set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
}

Status allow_zerocopy(int fd)
{
  return set_option(fd, SOL_SOCKET, SO_ZEROCOPY, 1, "SO_ZEROCOPY");
}

std::uint16_t local_port(int fd)
{
  sockaddr_in address{};
  socklen_t length = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
  return ntohs(address.sin_port);
}

Status let_reads_wait(int fd, std::uint64_t until_ns)
{
  if (::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK) != 0)
    return system_error("let a stream's reads wait");
  return set_patience(fd, SO_RCVTIMEO, until_ns, "SO_RCVTIMEO");
}

Status let_calls_wait(int fd, std::uint64_t until_ns)
{
  TRY(let_reads_wait(fd, until_ns));
  return set_patience(fd, SO_SNDTIMEO, until_ns, "SO_SNDTIMEO");
}

Result<std::uint32_t> add_tcp_info(int fd, std::map<std::string, std::uint64_t>& sums)
{
  // Larger than any kernel's tcp_info: the kernel fills in what it knows and says how much that is.
  alignas(tcp_info) std::array<char, 1024> raw{};
  auto length = static_cast<socklen_t>(raw.size());
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, raw.data(), &length) != 0)
    return system_error("read TCP_INFO");
  tcp_info info{};
  std::memcpy(&info, raw.data(), std::min<std::size_t>(length, sizeof info));

  sums["retransmits"] += info.tcpi_total_retrans;
  sums["bytes_retransmitted"] += info.tcpi_bytes_retrans;
  sums["bytes_sent"] += info.tcpi_bytes_sent;
  sums["lost"] += info.tcpi_lost;
  sums["reordering_seen"] += info.tcpi_reord_seen;
  sums["snd_cwnd"] += info.tcpi_snd_cwnd;
  sums["rtt_us"] = std::max<std::uint64_t>(sums["rtt_us"], info.tcpi_rtt);
  sums["min_rtt_us"] = std::max<std::uint64_t>(sums["min_rtt_us"], info.tcpi_min_rtt);
  std::uint16_t total_rto = 0;
  if (length >= total_rto_offset + sizeof total_rto) {
    std::memcpy(&total_rto, raw.data() + total_rto_offset, sizeof total_rto);
    sums["rto_events"] += total_rto;
  }
  return info.tcpi_snd_mss;
}

} // namespace rdmalab::traffic
