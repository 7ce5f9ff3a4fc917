#pragma once

#include <cstdint>
#include <ctime>

namespace rdmalab {

inline constexpr std::uint64_t second_ns = 1'000'000'000;

/// CLOCK_MONOTONIC in ns: one clock for all namespaces of a kernel, and what bpf_ktime_get_ns()
/// reads.
inline std::uint64_t monotonic_ns()
{
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * second_ns + static_cast<std::uint64_t>(t.tv_nsec);
}

/// Sleeps until CLOCK_MONOTONIC reaches `ns`; signals do not shorten it.
inline void sleep_until_ns(std::uint64_t ns)
{
  const timespec t{static_cast<time_t>(ns / second_ns), static_cast<long>(ns % second_ns)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) != 0) {
  }
}

} // namespace rdmalab
