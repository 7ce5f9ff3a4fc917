#include "wire/packet.h"

#include <algorithm>

namespace rdmalab::wire {
namespace {

/// Decodes layer by layer; each step says whether the next one can follow.
class Decoder {
public:
  Decoder(Bytes captured, std::size_t wire_length)
      : captured_(captured), wire_length_(std::max(wire_length, captured.size()))
  {}

  Packet decode()
  {
    if (ethernet() && network()) transport();
    return packet_;
  }

private:
  bool stop(Shape shape)
  {
    packet_.shape = shape;
    return false;
  }
  /// A read failed: the frame itself was too short if the capture holds all of it.
  bool cut() { return stop(captured_.size() < wire_length_ ? Shape::truncated : Shape::malformed); }

  bool ethernet()
  {
    Reader reader(captured_);
    reader.copy_to(packet_.destination_mac.octets.data(), packet_.destination_mac.octets.size());
    reader.copy_to(packet_.source_mac.octets.data(), packet_.source_mac.octets.size());
    packet_.ether_type = reader.u16();
    if (packet_.ether_type == ether_type_vlan) {
      packet_.vlan_tci = reader.u16();
      packet_.ether_type = reader.u16();
    }
    packet_.network_offset = reader.offset();
    return reader.ok() || cut();
  }

  bool network()
  {
    if (packet_.ether_type == ether_type_ipv4) return ipv4();
    if (packet_.ether_type == ether_type_ipv6) return ipv6();
    return false;
  }

  void traffic_class(std::uint8_t octet)
  {
    packet_.dscp = octet >> 2U;
    packet_.ecn = octet & 3U;
  }

  bool ipv4()
  {
    Reader reader(captured_, packet_.network_offset);
    const std::uint8_t version = reader.u8();
    traffic_class(reader.u8());
    packet_.network_length = reader.u16();
    packet_.identification = reader.u16();
    const std::uint16_t fragment = reader.u16();
    packet_.ttl = reader.u8();
    packet_.protocol = reader.u8();
    reader.skip(2);
    reader.copy_to(packet_.source.octets.data(), 4);
    reader.copy_to(packet_.destination.octets.data(), 4);
    if (!reader.ok()) return cut();

    packet_.network_header_length = std::size_t{4} * (version & 0xfU);
    packet_.fragment = (fragment & 0x3fffU) != 0; // more fragments, or an offset
    if (version >> 4U != 4 || packet_.network_header_length < ipv4_bytes)
      return stop(Shape::malformed);
    packet_.network = Network::ipv4;
    return network_lengths() && (fragment & 0x1fffU) == 0;
  }

  bool ipv6()
  {
    Reader reader(captured_, packet_.network_offset);
    const std::uint32_t first = reader.u32();
    packet_.network_length = ipv6_bytes + reader.u16();
    packet_.protocol = reader.u8();
    packet_.ttl = reader.u8();
    reader.copy_to(packet_.source.octets.data(), 16);
    reader.copy_to(packet_.destination.octets.data(), 16);
    if (!reader.ok()) return cut();

    traffic_class(static_cast<std::uint8_t>(first >> 20U & 0xffU));
    packet_.flow_label = first & 0xfffffU;
    packet_.source.v6 = packet_.destination.v6 = true;
    packet_.network_header_length = ipv6_bytes;
    if (first >> 28U != 6) return stop(Shape::malformed);
    packet_.network = Network::ipv6;
    return network_lengths();
  }

  bool network_lengths()
  {
    packet_.transport_offset = packet_.network_offset + packet_.network_header_length;
    if (packet_.network_length < packet_.network_header_length ||
        packet_.network_offset + packet_.network_length > wire_length_)
      return stop(Shape::malformed);
    return true;
  }

  void transport()
  {
    if (packet_.protocol == protocol_udp) udp();
    if (packet_.protocol == protocol_tcp) tcp();
  }

  /// What the network layer carries.
  [[nodiscard]] std::size_t carried() const
  {
    return packet_.network_length - packet_.network_header_length;
  }

  bool udp()
  {
    if (carried() < udp_bytes) return stop(Shape::malformed);
    Reader reader(captured_, packet_.transport_offset);
    packet_.source_port = reader.u16();
    packet_.destination_port = reader.u16();
    const std::size_t length = reader.u16();
    packet_.checksum = reader.u16();
    if (!reader.ok()) return cut();
    // A fragment's UDP length is that of the whole datagram.
    if (length < udp_bytes || (length > carried() && !packet_.fragment))
      return stop(Shape::malformed);
    packet_.transport = Transport::udp;
    return payload(udp_bytes, std::min(length, carried()));
  }

  bool tcp()
  {
    if (carried() < tcp_bytes) return stop(Shape::malformed);
    Reader reader(captured_, packet_.transport_offset);
    packet_.source_port = reader.u16();
    packet_.destination_port = reader.u16();
    packet_.sequence = reader.u32();
    packet_.acknowledgement = reader.u32();
    const std::size_t header = std::size_t{4} * (reader.u8() >> 4U);
    packet_.tcp_flags = reader.u8();
    packet_.window = reader.u16();
    packet_.checksum = reader.u16();
    reader.skip(2); // urgent pointer
    if (!reader.ok()) return cut();
    if (header < tcp_bytes || header > carried()) return stop(Shape::malformed);
    packet_.transport = Transport::tcp;
    return payload(header, carried());
  }

  bool payload(std::size_t header, std::size_t length)
  {
    packet_.transport_header_length = header;
    packet_.payload_offset = packet_.transport_offset + header;
    packet_.payload_length = length - header;
    const std::size_t begin = std::min(packet_.payload_offset, captured_.size());
    packet_.payload_captured = std::min(packet_.payload_length, captured_.size() - begin);
    return true;
  }

  Bytes captured_;
  std::size_t wire_length_;
  Packet packet_;
};

} // namespace

Packet decode_packet(Bytes captured, std::size_t wire_length)
{
  return Decoder(captured, wire_length).decode();
}

} // namespace rdmalab::wire
