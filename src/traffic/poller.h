#pragma once

#include "base/fd.h"
#include "base/result.h"

#include <array>
#include <cstdint>
#include <span>

#include <sys/epoll.h>

namespace rdmalab::traffic {

/// epoll(7), level triggered unless EPOLLET is asked for: which of several descriptors can go on.
/// Move-only.
class Poller {
public:
  static Result<Poller> create();

  /// Watches fd for `events`; `tag` comes back in epoll_event::data.u32.
  Status add(int fd, std::uint32_t events, std::uint32_t tag);
  Status remove(int fd);

  /// Waits for events; none when CLOCK_MONOTONIC reaches deadline_ns. Valid until the next call.
  Result<std::span<const epoll_event>> wait(std::uint64_t deadline_ns);

private:
  explicit Poller(Fd epoll) : epoll_(std::move(epoll)) {}

  Fd epoll_;
  std::array<epoll_event, 64> events_{};
};

} // namespace rdmalab::traffic
