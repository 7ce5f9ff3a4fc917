#include "wire/builder.h"

#include "wire/icrc.h"

#include <algorithm>
#include <cassert>

namespace rdmalab::wire {
namespace {

constexpr std::size_t udp_checksum_at = 6;
constexpr std::size_t tcp_checksum_at = 16;

/// The sum of 16-bit words, an odd last byte padded with zero (RFC 1071).
std::uint64_t sum(Bytes bytes)
{
  Reader reader(bytes);
  std::uint64_t total = 0;
  while (reader.remaining() >= 2) total += reader.u16();
  if (reader.remaining() == 1) total += std::uint64_t{reader.u8()} << 8U;
  return total;
}

std::uint16_t fold(std::uint64_t total)
{
  while (total >> 16U != 0) total = (total & 0xffffU) + (total >> 16U);
  return static_cast<std::uint16_t>(~total & 0xffffU);
}

Bytes octets(const IpAddress& address)
{
  return std::as_bytes(std::span(address.octets)).first(address.v6 ? 16 : 4);
}

} // namespace

PacketBuilder::PacketBuilder()
{
  source_.octets = {10, 0, 0, 1};
  destination_.octets = {10, 0, 0, 2};
}

PacketBuilder& PacketBuilder::macs(const MacAddress& source, const MacAddress& destination)
{
  source_mac_ = source;
  destination_mac_ = destination;
  return *this;
}
PacketBuilder& PacketBuilder::vlan(std::uint16_t id, std::uint8_t priority)
{
  vlan_tci_ = static_cast<std::uint16_t>((priority & 7U) << 13U | (id & 0xfffU));
  return *this;
}
PacketBuilder& PacketBuilder::addresses(const IpAddress& source, const IpAddress& destination)
{
  assert(source.v6 == destination.v6);
  source_ = source;
  destination_ = destination;
  return *this;
}
PacketBuilder& PacketBuilder::dscp(std::uint8_t value)
{
  dscp_ = value & 0x3fU;
  return *this;
}
PacketBuilder& PacketBuilder::ecn(std::uint8_t value)
{
  ecn_ = value & 3U;
  return *this;
}
PacketBuilder& PacketBuilder::ttl(std::uint8_t value)
{
  ttl_ = value;
  return *this;
}
PacketBuilder& PacketBuilder::identification(std::uint16_t value)
{
  identification_ = value;
  return *this;
}
PacketBuilder& PacketBuilder::flow_label(std::uint32_t value)
{
  flow_label_ = value & 0xfffffU;
  return *this;
}
PacketBuilder& PacketBuilder::source_port(std::uint16_t value)
{
  source_port_ = value;
  return *this;
}

std::size_t PacketBuilder::network_offset() const
{
  return ethernet_bytes + (vlan_tci_ ? vlan_bytes : 0);
}
std::size_t PacketBuilder::transport_offset() const
{
  return network_offset() + (source_.v6 ? ipv6_bytes : ipv4_bytes);
}

void PacketBuilder::write_ipv4(Writer& writer, std::uint8_t protocol,
                               std::size_t transport_length) const
{
  writer.u8(0x45);
  writer.u8(static_cast<std::uint8_t>(dscp_ << 2U | ecn_));
  writer.u16(static_cast<std::uint16_t>(ipv4_bytes + transport_length));
  writer.u16(identification_);
  writer.u16(0x4000); // don't fragment
  writer.u8(ttl_);
  writer.u8(protocol);
  writer.u16(0); // checksum: start() fills it in
  writer.bytes(octets(source_));
  writer.bytes(octets(destination_));
}

void PacketBuilder::write_ipv6(Writer& writer, std::uint8_t protocol,
                               std::size_t transport_length) const
{
  const auto traffic_class = static_cast<std::uint32_t>(dscp_ << 2U | ecn_);
  writer.u32(6U << 28U | traffic_class << 20U | flow_label_);
  writer.u16(static_cast<std::uint16_t>(transport_length));
  writer.u8(protocol);
  writer.u8(ttl_);
  writer.bytes(octets(source_));
  writer.bytes(octets(destination_));
}

Frame PacketBuilder::start(std::uint8_t protocol, std::size_t transport_length) const
{
  Frame frame(transport_offset() + transport_length);
  Writer writer(frame);
  writer.bytes(std::as_bytes(std::span(destination_mac_.octets)));
  writer.bytes(std::as_bytes(std::span(source_mac_.octets)));
  if (vlan_tci_) {
    writer.u16(ether_type_vlan);
    writer.u16(*vlan_tci_);
  }
  writer.u16(source_.v6 ? ether_type_ipv6 : ether_type_ipv4);
  if (source_.v6) {
    write_ipv6(writer, protocol, transport_length);
  } else {
    write_ipv4(writer, protocol, transport_length);
    const Bytes header = Bytes(frame).subspan(network_offset(), ipv4_bytes);
    Writer(frame, network_offset() + 10).u16(fold(sum(header)));
  }
  return frame;
}

void PacketBuilder::seal(Frame& frame, std::uint8_t protocol, std::size_t at) const
{
  const Bytes transport = Bytes(frame).subspan(transport_offset());
  const std::uint64_t pseudo =
      sum(octets(source_)) + sum(octets(destination_)) + protocol + transport.size();
  std::uint16_t checksum = fold(pseudo + sum(transport));
  // UDP says "no checksum" by a zero, and zero itself by ones.
  if (protocol == protocol_udp && checksum == 0) checksum = 0xffff;
  Writer(frame, transport_offset() + at).u16(checksum);
}

Frame PacketBuilder::roce(RoceHeaders headers, Bytes payload) const
{
  headers.bth.pad = static_cast<std::uint8_t>((4 - payload.size() % 4) % 4);
  const Opcode* opcode = find_opcode(headers.bth.opcode);
  const bool cnp = opcode != nullptr && opcode->role == Role::cnp;
  const std::size_t length = udp_bytes + encoded_bytes(headers) + (cnp ? cnp_reserved_bytes : 0) +
                             payload.size() + headers.bth.pad + icrc_bytes;
  Frame frame = start(protocol_udp, length);
  Writer writer(frame, transport_offset());
  writer.u16(source_port_);
  writer.u16(roce_port);
  writer.u16(static_cast<std::uint16_t>(length));
  writer.u16(0);
  encode(headers, writer);
  if (cnp) writer.fill(cnp_reserved_bytes, 0);
  writer.bytes(payload);
  fix_icrc(frame, decode_packet(frame));
  return frame;
}

Frame PacketBuilder::tcp(const TcpHeader& header, Bytes payload) const
{
  Frame frame = start(protocol_tcp, tcp_bytes + payload.size());
  Writer writer(frame, transport_offset());
  writer.u16(header.source_port);
  writer.u16(header.destination_port);
  writer.u32(header.sequence);
  writer.u32(header.acknowledgement);
  writer.u8(static_cast<std::uint8_t>(tcp_bytes / 4 << 4U));
  writer.u8(header.flags);
  writer.u16(header.window);
  writer.u32(0); // checksum and urgent pointer
  writer.bytes(payload);
  seal(frame, protocol_tcp, tcp_checksum_at);
  return frame;
}

Frame PacketBuilder::udp(std::uint16_t from_port, std::uint16_t to_port, Bytes payload) const
{
  const std::size_t length = udp_bytes + payload.size();
  Frame frame = start(protocol_udp, length);
  Writer writer(frame, transport_offset());
  writer.u16(from_port);
  writer.u16(to_port);
  writer.u16(static_cast<std::uint16_t>(length));
  writer.u16(0);
  writer.bytes(payload);
  seal(frame, protocol_udp, udp_checksum_at);
  return frame;
}

} // namespace rdmalab::wire
