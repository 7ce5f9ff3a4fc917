#include "wire/aeth.h"

#include <array>
#include <string_view>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::wire {
namespace {

/// In steps of 10 us.
constexpr std::array<std::uint32_t, 32> rnr_timers{
    65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
    48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
    2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

std::string nak_text(std::uint8_t code)
{
  constexpr std::array<std::string_view, 5> names{"PSN sequence error", "invalid request",
                                                  "remote access error", "remote operational error",
                                                  "invalid RD request"};
  if (code < names.size()) return fmt::format("NAK {}", names[code]);
  return fmt::format("NAK reserved code {}", code);
}

} // namespace

std::uint64_t rnr_timer_ns(std::uint8_t code)
{
  return std::uint64_t{rnr_timers[code & 31U]} * 10'000;
}

Syndrome Syndrome::decode(std::uint8_t syndrome)
{
  const auto value = static_cast<std::uint8_t>(syndrome & 31U);
  if ((syndrome & 0x80U) != 0) return {Kind::reserved, value};
  return {static_cast<Kind>(syndrome >> 5U & 3U), value};
}

std::uint8_t Syndrome::encode() const
{
  return static_cast<std::uint8_t>(static_cast<unsigned>(kind) << 5U | (value & 31U));
}

std::uint64_t Syndrome::rnr_timer_ns() const
{
  return kind == Kind::rnr_nak ? wire::rnr_timer_ns(value) : 0;
}

std::string Syndrome::text() const
{
  switch (kind) {
  case Kind::ack:
    return "ACK";
  case Kind::nak:
    return nak_text(value);
  case Kind::rnr_nak:
    return fmt::format("RNR NAK {} ms", static_cast<double>(rnr_timer_ns()) / 1e6);
  case Kind::reserved:
    break;
  }
  return fmt::format("reserved syndrome 0x{:02x}", encode());
}

} // namespace rdmalab::wire
