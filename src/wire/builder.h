#pragma once

#include "wire/address.h"
#include "wire/bytes.h"
#include "wire/packet.h"
#include "wire/roce.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace rdmalab::wire {

using Frame = std::vector<std::byte>;

/// TCP's header fields; ports come from here, addresses from the builder.
struct TcpHeader {
  std::uint16_t source_port = 40000;
  std::uint16_t destination_port = 5201;
  std::uint32_t sequence = 0;
  std::uint32_t acknowledgement = 0;
  std::uint8_t flags = tcp_ack; ///< TcpFlag bits
  std::uint16_t window = 65535;
};

/// Makes complete Ethernet frames with right lengths, checksums and ICRC: what the tests of the
/// eBPF programs send through them. By default from 10.0.0.1 to 10.0.0.2, without a tag.
class PacketBuilder {
public:
  PacketBuilder();

  PacketBuilder& macs(const MacAddress& source, const MacAddress& destination);
  /// Puts an 802.1Q tag in; both are cut to their width.
  PacketBuilder& vlan(std::uint16_t id, std::uint8_t priority = 0);
  /// Both of one family, which decides between IPv4 and IPv6.
  PacketBuilder& addresses(const IpAddress& source, const IpAddress& destination);
  PacketBuilder& dscp(std::uint8_t value);
  PacketBuilder& ecn(std::uint8_t value);
  PacketBuilder& ttl(std::uint8_t value);
  /// IPv4 only.
  PacketBuilder& identification(std::uint16_t value);
  /// IPv6 only.
  PacketBuilder& flow_label(std::uint32_t value);
  /// RoCE's source port.
  PacketBuilder& source_port(std::uint16_t value);

  /// A RoCEv2 frame. BTH's pad count follows from the payload; a CNP gets its 16 reserved bytes.
  /// UDP's checksum is 0, as rxe sends it.
  [[nodiscard]] Frame roce(RoceHeaders headers, Bytes payload = {}) const;
  /// A TCP frame without options.
  [[nodiscard]] Frame tcp(const TcpHeader& header, Bytes payload = {}) const;
  /// Any other UDP datagram, with its checksum.
  [[nodiscard]] Frame udp(std::uint16_t from_port, std::uint16_t to_port, Bytes payload = {}) const;

private:
  [[nodiscard]] std::size_t network_offset() const;
  [[nodiscard]] std::size_t transport_offset() const;
  /// A frame of the right size whose Ethernet and IP headers are done.
  [[nodiscard]] Frame start(std::uint8_t protocol, std::size_t transport_length) const;
  void write_ipv4(Writer& writer, std::uint8_t protocol, std::size_t transport_length) const;
  void write_ipv6(Writer& writer, std::uint8_t protocol, std::size_t transport_length) const;
  /// Writes the checksum of the transport at `at` bytes behind its beginning.
  void seal(Frame& frame, std::uint8_t protocol, std::size_t at) const;

  MacAddress source_mac_{{2, 0, 0, 0, 0, 1}};
  MacAddress destination_mac_{{2, 0, 0, 0, 0, 2}};
  std::optional<std::uint16_t> vlan_tci_;
  IpAddress source_;
  IpAddress destination_;
  std::uint8_t dscp_ = 0;
  std::uint8_t ecn_ = 0;
  std::uint8_t ttl_ = 64;
  std::uint16_t identification_ = 0;
  std::uint32_t flow_label_ = 0;
  std::uint16_t source_port_ = 49152;
};

} // namespace rdmalab::wire
