#pragma once

#include "lab/keys.h"

/// Words in which the tables are written.
namespace rdmalab::lab::key_makers {

inline constexpr std::uint64_t us = 1'000;
inline constexpr std::uint64_t ms = 1'000'000;
inline constexpr std::uint64_t s = 1'000'000'000;
inline constexpr std::uint64_t gbit = 1'000'000'000;

inline Key key(std::string name, Type type, std::string help)
{
  Key made;
  made.name = std::move(name);
  made.type = type;
  made.help = std::move(help);
  return made;
}

inline Key required(Key made)
{
  made.required = true;
  return made;
}

inline Key fallback(std::string text, Key made)
{
  made.fallback = std::move(text);
  return made;
}

inline Key range(std::uint64_t min, std::uint64_t max, Key made)
{
  made.min = min;
  made.max = max;
  return made;
}

inline Key choices(std::vector<std::string> words, Key made)
{
  made.choices = std::move(words);
  return made;
}

inline Key only(std::vector<std::string> kinds, Key made)
{
  made.kinds = std::move(kinds);
  return made;
}

inline Key with(const Table& table, Key made)
{
  made.table = &table;
  return made;
}

inline constexpr std::uint64_t all = 1'000'000; // ppm

} // namespace rdmalab::lab::key_makers
