#pragma once

#include <cstdint>

namespace rdmalab::wire {

/// Packet sequence numbers are 24 bits wide and wrap (IB specification vol. 1, 9.7.2).
inline constexpr std::uint32_t psn_mask = 0xffffff;

/// `psn` moved on by `by`, which may be negative.
constexpr std::uint32_t psn_add(std::uint32_t psn, std::int64_t by)
{
  return static_cast<std::uint32_t>(psn + static_cast<std::uint64_t>(by)) & psn_mask;
}

/// How far `to` is ahead of `from`, modulo 2^24: −2^23 … 2^23−1, negative if it is behind.
constexpr std::int32_t psn_distance(std::uint32_t from, std::uint32_t to)
{
  const std::uint32_t ahead = (to - from) & psn_mask;
  return static_cast<std::int32_t>(ahead) - (ahead >= 0x800000 ? 0x1000000 : 0);
}

/// Whether `a` comes before `b`.
constexpr bool psn_before(std::uint32_t a, std::uint32_t b)
{
  return psn_distance(a, b) > 0;
}

} // namespace rdmalab::wire
