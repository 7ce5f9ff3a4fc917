#pragma once

#include "wire/address.h"
#include "wire/bytes.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace rdmalab::wire {

/// RoCEv2's UDP destination port (IB specification vol. 1, annex A17).
inline constexpr std::uint16_t roce_port = 4791;

inline constexpr std::uint16_t ether_type_vlan = 0x8100; ///< IEEE 802.1Q
inline constexpr std::uint16_t ether_type_ipv4 = 0x0800;
inline constexpr std::uint16_t ether_type_ipv6 = 0x86dd;
inline constexpr std::uint8_t protocol_tcp = 6; ///< IANA, Assigned Internet Protocol Numbers
inline constexpr std::uint8_t protocol_udp = 17;
inline constexpr std::size_t ethernet_bytes = 14;
inline constexpr std::size_t vlan_bytes = 4;
inline constexpr std::size_t ipv4_bytes = 20; ///< without options
inline constexpr std::size_t ipv6_bytes = 40;
inline constexpr std::size_t udp_bytes = 8;
inline constexpr std::size_t tcp_bytes = 20; ///< without options

/// TCP's flags (RFC 9293, section 3.1), as they stand in the header's byte 13.
enum TcpFlag : std::uint8_t {
  tcp_fin = 0x01,
  tcp_syn = 0x02,
  tcp_rst = 0x04,
  tcp_psh = 0x08,
  tcp_ack = 0x10,
  tcp_urg = 0x20,
  tcp_ece = 0x40,
  tcp_cwr = 0x80,
};

enum class Network : std::uint8_t { none, ipv4, ipv6 };
enum class Transport : std::uint8_t { none, udp, tcp };

/// How far the decoder got. `truncated`: the capture ends inside a header. `malformed`: a length
/// in a header contradicts another, or the frame's length on the wire.
enum class Shape : std::uint8_t { complete, truncated, malformed };

/// What the headers of an Ethernet frame say: offsets and lengths in bytes from the frame's first
/// byte. The fields of a layer mean something only if `network` or `transport` names it.
struct Packet {
  Shape shape = Shape::complete;

  MacAddress destination_mac{};
  MacAddress source_mac{};
  std::optional<std::uint16_t> vlan_tci; ///< one 802.1Q tag's priority, DEI and VLAN id
  std::uint16_t ether_type = 0;          ///< behind the tag, if there is one

  Network network = Network::none;
  std::size_t network_offset = 0;
  std::size_t network_header_length = 0;
  std::size_t network_length = 0; ///< header and payload, as the header says
  IpAddress source{};
  IpAddress destination{};
  std::uint8_t dscp = 0;
  std::uint8_t ecn = 0; ///< 0 not ECT, 1 ECT(1), 2 ECT(0), 3 CE (RFC 3168)
  std::uint8_t ttl = 0; ///< IPv6: hop limit
  std::uint8_t protocol = 0;
  std::uint16_t identification = 0; ///< IPv4 only
  std::uint32_t flow_label = 0;     ///< IPv6 only
  bool fragment = false;            ///< IPv4: not the first fragment, or more follow

  Transport transport = Transport::none;
  std::size_t transport_offset = 0;
  std::size_t transport_header_length = 0;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint16_t checksum = 0; ///< UDP's or TCP's, as it stands there

  std::uint32_t sequence = 0;        ///< TCP
  std::uint32_t acknowledgement = 0; ///< TCP
  std::uint8_t tcp_flags = 0;        ///< TcpFlag bits
  std::uint16_t window = 0;          ///< TCP, unscaled

  std::size_t payload_offset = 0;
  std::size_t payload_length = 0;   ///< of UDP or TCP on the wire, as the headers say
  std::size_t payload_captured = 0; ///< how much of it the capture holds

  [[nodiscard]] bool is_roce() const
  {
    return transport == Transport::udp && destination_port == roce_port;
  }
  [[nodiscard]] bool whole() const { return payload_captured == payload_length; }
};

/// Decodes Ethernet, at most one 802.1Q tag, IPv4 or IPv6, UDP or TCP. Never fails and never reads
/// past `captured`: `network` and `transport` say which layers were found, `shape` why it stopped.
/// IPv6 extension headers and fragments other than the first end it at the network layer (neither
/// rxe nor Linux' TCP sends them). `wire_length` is the frame's length before a snap length cut it.
Packet decode_packet(Bytes captured, std::size_t wire_length);
/// The same for a frame that was captured whole.
inline Packet decode_packet(Bytes frame)
{
  return decode_packet(frame, frame.size());
}

} // namespace rdmalab::wire
