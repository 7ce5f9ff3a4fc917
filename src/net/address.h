#pragma once

#include "base/result.h"
#include "net/message.h"
#include "net/socket.h"

#include <array>
#include <cstdint>
#include <string>

namespace rdmalab::net {

using Mac = std::array<std::uint8_t, 6>;
/// An IPv4 address in network byte order, as it stands in a packet.
using Ipv4 = std::array<std::uint8_t, 4>;

/// "02:00:00:00:00:01"; EINVAL for anything else.
Result<Mac> parse_mac(const std::string& text);
std::string to_string(const Mac& mac);
/// "10.0.0.1"; EINVAL for anything else.
Result<Ipv4> parse_ipv4(const std::string& text);

/// RTM_NEWADDR: address/prefix on the device.
Message address_message(std::uint32_t index, const Ipv4& address, std::uint8_t prefix);
/// RTM_NEWNEIGH: a permanent neighbour, so that no ARP crosses the fabric.
Message neighbour_message(std::uint32_t index, const Ipv4& address, const Mac& mac);
/// RTM_NEWNEIGH, AF_BRIDGE: a static entry of the bridge's forwarding table for one of its ports,
/// so that nothing is flooded and nothing has to be learnt.
Message forwarding_message(std::uint32_t port_index, const Mac& mac);

/// `socket`: NETLINK_ROUTE in the device's namespace; `index`: of the device there.
Status add_address(NlSocket& socket, std::uint32_t index, const std::string& ip,
                   std::uint8_t prefix);
Status add_neighbour(NlSocket& socket, std::uint32_t index, const std::string& ip,
                     const std::string& mac);
Status add_forwarding(NlSocket& socket, std::uint32_t port_index, const std::string& mac);

} // namespace rdmalab::net
