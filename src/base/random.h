#pragma once

#include <cstdint>

namespace rdmalab {

/// SplitMix64's finaliser (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators,
/// OOPSLA 2014): a bijection of 64-bit words whose output bits each depend on all input bits.
constexpr std::uint64_t mix64(std::uint64_t x)
{
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// One seed from two, so that every part of a run draws from its own stream.
constexpr std::uint64_t mix64(std::uint64_t a, std::uint64_t b)
{
  return mix64(mix64(a) ^ b);
}

} // namespace rdmalab
