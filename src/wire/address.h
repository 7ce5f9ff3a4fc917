#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rdmalab::wire {

/// An Ethernet address.
struct MacAddress {
  std::array<std::uint8_t, 6> octets{};
  auto operator<=>(const MacAddress&) const = default;
};

/// An IPv4 (the first 4 octets) or IPv6 address.
struct IpAddress {
  bool v6 = false;
  std::array<std::uint8_t, 16> octets{};
  auto operator<=>(const IpAddress&) const = default;
};

/// "02:00:00:00:00:01".
std::string to_string(const MacAddress& address);
/// "10.0.0.1", "fd00::1" (RFC 5952).
std::string to_string(const IpAddress& address);
/// Reads either form of IP address; empty if it is neither.
std::optional<IpAddress> parse_ip(std::string_view text);

} // namespace rdmalab::wire
