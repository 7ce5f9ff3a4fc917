#include "traffic/poller.h"

#include "base/clock.h"

#include <algorithm>
#include <cerrno>

namespace rdmalab::traffic {

Result<Poller> Poller::create()
{
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) return system_error("make an epoll descriptor");
  return Poller(std::move(epoll));
}

Status Poller::add(int fd, std::uint32_t events, std::uint32_t tag)
{
  epoll_event event{};
  event.events = events;
  event.data.u32 = tag;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    return system_error("watch a descriptor");
  return {};
}

Status Poller::remove(int fd)
{
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr) != 0)
    return system_error("stop watching a descriptor");
  return {};
}

Result<std::span<const epoll_event>> Poller::wait(std::uint64_t deadline_ns)
{
  while (true) {
    // epoll_wait counts in milliseconds: rounded up, so that the last part is not spent in a loop.
    const std::uint64_t now = monotonic_ns();
    const std::uint64_t left = now < deadline_ns ? deadline_ns - now : 0;
    const auto timeout =
        static_cast<int>(std::min<std::uint64_t>((left + 999'999) / 1'000'000, 1'000'000));
    const int n =
        ::epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), timeout);
    if (n > 0) return std::span<const epoll_event>(events_.data(), static_cast<std::size_t>(n));
    if (n < 0 && errno != EINTR) return system_error("wait for streams");
    if (n == 0 && monotonic_ns() >= deadline_ns) return std::span<const epoll_event>();
  }
}

} // namespace rdmalab::traffic
