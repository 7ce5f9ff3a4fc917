#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Quantities stay integers inside: ns, bytes, bits per second, ppm. Text is met at the edges only.
namespace rdmalab::units {

/// "20us", "1.5ms", "2s", "100ns" to ns; exact, or nothing (no unit, unknown unit, a fraction of a
/// ns).
std::optional<std::uint64_t> parse_time(std::string_view text);
/// "64KiB", "1MB", "4096B" to bytes; KB, MB, GB are powers of 1000, KiB, MiB, GiB of 1024.
std::optional<std::uint64_t> parse_bytes(std::string_view text);
/// "1gbit", "250mbit", "10kbit", "1bit" (also Gb/s, Mb/s) to bits per second.
std::optional<std::uint64_t> parse_rate(std::string_view text);
/// "1%", "0.01%", "100ppm" to parts per million (1% = 10'000); exact, or nothing. At most 100%.
std::optional<std::uint64_t> parse_share(std::string_view text);

/// The shortest text that parses back to the same value: "20us", "1.5ms".
std::string format_time(std::uint64_t ns);
std::string format_bytes(std::uint64_t bytes);
std::string format_rate(std::uint64_t bits_per_second);
std::string format_share(std::uint64_t ppm);

} // namespace rdmalab::units
