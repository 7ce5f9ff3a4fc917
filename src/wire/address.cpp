#include "wire/address.h"

#include <arpa/inet.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace rdmalab::wire {

std::string to_string(const MacAddress& address)
{
  return fmt::format("{:02x}", fmt::join(address.octets, ":"));
}

std::string to_string(const IpAddress& address)
{
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(address.v6 ? AF_INET6 : AF_INET, address.octets.data(), text, sizeof text);
  return text;
}

std::optional<IpAddress> parse_ip(std::string_view text)
{
  IpAddress address{.v6 = text.find(':') != std::string_view::npos, .octets = {}};
  const std::string terminated(text);
  const int family = address.v6 ? AF_INET6 : AF_INET;
  if (inet_pton(family, terminated.c_str(), address.octets.data()) != 1) return {};
  return address;
}

} // namespace rdmalab::wire
