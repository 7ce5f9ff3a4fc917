/// Helpers that the wire room's tests share.
#pragma once

#include "wire/builder.h"

#include <string>
#include <string_view>
#include <vector>

namespace rdmalab::wire::test {

/// Bytes from hexadecimal digits; blanks are skipped.
inline Frame from_hex(std::string_view text)
{
  Frame frame;
  std::string digits;
  for (const char c : text) {
    if (c == ' ' || c == '\n') continue;
    digits += c;
    if (digits.size() < 2) continue;
    frame.push_back(static_cast<std::byte>(std::stoul(digits, nullptr, 16)));
    digits.clear();
  }
  return frame;
}

inline PacketBuilder ipv4()
{
  return {};
}
inline PacketBuilder ipv6()
{
  PacketBuilder builder;
  builder.addresses(*parse_ip("fd00::1"), *parse_ip("fd00::2"));
  return builder;
}
/// IPv4 and IPv6, each with and without a VLAN tag.
inline std::vector<PacketBuilder> every_builder()
{
  return {ipv4(), ipv6(), ipv4().vlan(100, 3), ipv6().vlan(4094)};
}

inline RoceHeaders headers(std::string_view opcode, std::uint32_t psn, std::uint32_t qp = 17)
{
  RoceHeaders result = headers_of(*find_opcode(opcode));
  result.bth.destination_qp = qp;
  result.bth.psn = psn;
  return result;
}

} // namespace rdmalab::wire::test
