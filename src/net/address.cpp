#include "net/address.h"

#include <cerrno>
#include <charconv>
#include <system_error>

#include <arpa/inet.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <spdlog/fmt/fmt.h>

namespace rdmalab::net {

Result<Mac> parse_mac(const std::string& text)
{
  Mac mac{};
  const std::size_t length = mac.size() * 3 - 1; // two digits each, a colon between two
  bool good = text.size() == length;
  for (std::size_t i = 0; good && i < mac.size(); ++i) {
    const char* digits = text.data() + i * 3;
    const auto [end, failed] = std::from_chars(digits, digits + 2, mac[i], 16);
    good = failed == std::errc{} && end == digits + 2 && (i + 1 == mac.size() || *end == ':');
  }
  if (!good) return system_error(EINVAL, "read the MAC address '" + text + "'");
  return mac;
}

std::string to_string(const Mac& mac)
{
  return fmt::format("{:02x}", fmt::join(mac, ":"));
}

Result<Ipv4> parse_ipv4(const std::string& text)
{
  Ipv4 address{};
  if (inet_pton(AF_INET, text.c_str(), address.data()) != 1)
    return system_error(EINVAL, "read the IPv4 address '" + text + "'");
  return address;
}

Message address_message(std::uint32_t index, const Ipv4& address, std::uint8_t prefix)
{
  Message message(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
  ifaddrmsg header{};
  header.ifa_family = AF_INET;
  header.ifa_prefixlen = prefix;
  header.ifa_index = index;
  message.header(header).put(IFA_LOCAL, address).put(IFA_ADDRESS, address);
  return message;
}

Message neighbour_message(std::uint32_t index, const Ipv4& address, const Mac& mac)
{
  Message message(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE);
  ndmsg header{};
  header.ndm_family = AF_INET;
  header.ndm_ifindex = static_cast<int>(index);
  header.ndm_state = NUD_PERMANENT;
  message.header(header).put(NDA_DST, address).put(NDA_LLADDR, mac);
  return message;
}

Message forwarding_message(std::uint32_t port_index, const Mac& mac)
{
  Message message(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE);
  ndmsg header{};
  header.ndm_family = AF_BRIDGE;
  header.ndm_ifindex = static_cast<int>(port_index);
  header.ndm_state = NUD_NOARP; // "static" in bridge(8): not aged, but not local either
  header.ndm_flags = NTF_MASTER;
  message.header(header).put(NDA_LLADDR, mac);
  return message;
}

Status add_address(NlSocket& socket, std::uint32_t index, const std::string& ip,
                   std::uint8_t prefix)
{
  TRY_ASSIGN(const Ipv4 address, parse_ipv4(ip));
  Message message = address_message(index, address, prefix);
  return socket.request(message, fmt::format("add address {}/{}", ip, prefix));
}

Status add_neighbour(NlSocket& socket, std::uint32_t index, const std::string& ip,
                     const std::string& mac)
{
  TRY_ASSIGN(const Ipv4 address, parse_ipv4(ip));
  TRY_ASSIGN(const Mac link_address, parse_mac(mac));
  Message message = neighbour_message(index, address, link_address);
  return socket.request(message, "add neighbour " + ip + " at " + mac);
}

Status add_forwarding(NlSocket& socket, std::uint32_t port_index, const std::string& mac)
{
  TRY_ASSIGN(const Mac link_address, parse_mac(mac));
  Message message = forwarding_message(port_index, link_address);
  return socket.request(message, "add a forwarding entry for " + mac);
}

} // namespace rdmalab::net
