/// Bytes, addresses, the decoding of frames that the builder made, and of frames cut anywhere.
#include "wire/packet.h"
#include "wire_fixture.h"

#include <gtest/gtest.h>

namespace rdmalab::wire {
namespace {

using test::every_builder;
using test::from_hex;
using test::ipv4;
using test::ipv6;

TEST(WireBytes, ReadsBigEndianAndStopsAtTheEnd)
{
  const Frame bytes = from_hex("01 0203 040506 0708090a 0b0c0d0e0f101112 13");
  Reader reader(bytes);
  EXPECT_EQ(reader.u8(), 0x01U);
  EXPECT_EQ(reader.u16(), 0x0203U);
  EXPECT_EQ(reader.u24(), 0x040506U);
  EXPECT_EQ(reader.u32(), 0x0708090aU);
  EXPECT_EQ(reader.u64(), 0x0b0c0d0e0f101112U);
  EXPECT_EQ(reader.remaining(), 1U);
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.u16(), 0U);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.u8(), 0U) << "once past the end, nothing is read any more";
  EXPECT_FALSE(Reader(bytes, bytes.size() + 1).ok());
}

TEST(WireBytes, WritesWhatItReadsAndNothingPastTheEnd)
{
  Frame bytes(19);
  Writer writer(bytes);
  writer.u8(0x01);
  writer.u16(0x0203);
  writer.u24(0xff040506); // only 24 bits
  writer.u32(0x0708090a);
  writer.u64(0x0b0c0d0e0f101112);
  EXPECT_TRUE(writer.ok());
  writer.u16(0xffff);
  EXPECT_FALSE(writer.ok());
  EXPECT_EQ(bytes, from_hex("01 0203 040506 0708090a 0b0c0d0e0f101112 00"));
}

TEST(WireAddress, ReadsAndPrints)
{
  for (const char* text : {"10.0.0.1", "fd00::1", "::ffff:10.0.0.1"})
    EXPECT_EQ(to_string(parse_ip(text).value()), text);
  for (const char* text : {"", "10.0.0", "fd00::1::2", "host"})
    EXPECT_FALSE(parse_ip(text)) << text;
  EXPECT_EQ(to_string(MacAddress{{2, 0, 0, 0xab, 0, 1}}), "02:00:00:ab:00:01");
}

TEST(WirePacket, DecodesTcpInEveryKindOfFrame)
{
  const TcpHeader header{.source_port = 1234,
                         .destination_port = 80,
                         .sequence = 0xfffffff0,
                         .acknowledgement = 77,
                         .flags = tcp_psh | tcp_ack | tcp_ece,
                         .window = 4711};
  const Frame payload = from_hex("010203");
  for (PacketBuilder& builder : every_builder()) {
    const Frame frame = builder.dscp(26).ecn(2).ttl(9).tcp(header, payload);
    const Packet packet = decode_packet(frame);
    EXPECT_EQ(packet.shape, Shape::complete);
    EXPECT_EQ(packet.transport, Transport::tcp);
    EXPECT_EQ(packet.dscp, 26);
    EXPECT_EQ(packet.ecn, 2);
    EXPECT_EQ(packet.ttl, 9);
    EXPECT_EQ(packet.source_port, 1234);
    EXPECT_EQ(packet.destination_port, 80);
    EXPECT_EQ(packet.sequence, 0xfffffff0U);
    EXPECT_EQ(packet.acknowledgement, 77U);
    EXPECT_EQ(packet.tcp_flags, tcp_psh | tcp_ack | tcp_ece);
    EXPECT_EQ(packet.window, 4711);
    EXPECT_EQ(packet.payload_length, 3U);
    EXPECT_EQ(packet.payload_offset, frame.size() - 3);
    EXPECT_TRUE(packet.whole());
    EXPECT_FALSE(packet.is_roce());
  }
}

TEST(WirePacket, ReadsAddressesTagAndLabel)
{
  const Packet v4 = decode_packet(ipv4().vlan(100, 3).identification(0x1234).udp(1, 2));
  EXPECT_EQ(v4.network, Network::ipv4);
  EXPECT_EQ(to_string(v4.source), "10.0.0.1");
  EXPECT_EQ(to_string(v4.destination), "10.0.0.2");
  EXPECT_EQ(to_string(v4.source_mac), "02:00:00:00:00:01");
  EXPECT_EQ(to_string(v4.destination_mac), "02:00:00:00:00:02");
  EXPECT_EQ(v4.vlan_tci, 3U << 13U | 100U);
  EXPECT_EQ(v4.identification, 0x1234);
  EXPECT_FALSE(v4.fragment);

  const Packet v6 = decode_packet(ipv6().flow_label(0x1face).udp(1, 2));
  EXPECT_EQ(v6.network, Network::ipv6);
  EXPECT_EQ(to_string(v6.source), "fd00::1");
  EXPECT_EQ(to_string(v6.destination), "fd00::2");
  EXPECT_EQ(v6.flow_label, 0x1faceU);
  EXPECT_FALSE(v6.vlan_tci);
  EXPECT_EQ(v6.payload_length, 0U);
}

TEST(WirePacket, EthernetPaddingIsNoPayload)
{
  Frame frame = ipv4().udp(1, 2, from_hex("aa"));
  frame.resize(60);
  const Packet packet = decode_packet(frame);
  EXPECT_EQ(packet.shape, Shape::complete);
  EXPECT_EQ(packet.payload_length, 1U);
  EXPECT_EQ(packet.payload_captured, 1U);
}

TEST(WirePacket, ACutAnywhereIsTruncatedOrKeepsTheHeaders)
{
  for (const PacketBuilder& builder : every_builder())
    for (const Frame& frame :
         {builder.udp(1, 2, from_hex("010203")), builder.tcp({}, from_hex("01"))}) {
      const Packet whole = decode_packet(frame);
      for (std::size_t length = 0; length < frame.size(); ++length) {
        // A copy of exactly this length, so that a sanitizer sees any byte read too much.
        const Frame cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(length));
        const Packet packet = decode_packet(cut, frame.size());
        const bool headers_there =
            length >=
            whole.transport_offset + (whole.transport == Transport::tcp ? tcp_bytes : udp_bytes);
        EXPECT_EQ(packet.shape, headers_there ? Shape::complete : Shape::truncated) << length;
        EXPECT_EQ(packet.transport, headers_there ? whole.transport : Transport::none) << length;
        if (!headers_there) continue;
        EXPECT_EQ(packet.payload_length, whole.payload_length);
        EXPECT_EQ(packet.payload_captured, length - whole.payload_offset);
      }
    }
}

TEST(WirePacket, SaysWhatIsMalformed)
{
  const Frame good = ipv4().udp(1, 2, from_hex("01020304"));
  const auto broken = [&](std::size_t at, std::uint8_t value) {
    Frame frame = good;
    frame[at] = std::byte{value};
    return decode_packet(frame).shape;
  };
  EXPECT_EQ(decode_packet(good).shape, Shape::complete);
  EXPECT_EQ(broken(14, 0x44), Shape::malformed) << "an IPv4 header of 16 bytes";
  EXPECT_EQ(broken(14, 0x65), Shape::malformed) << "version 6 behind IPv4's type";
  EXPECT_EQ(broken(17, 0xff), Shape::malformed) << "IP longer than the frame";
  EXPECT_EQ(broken(17, 19), Shape::malformed) << "IP shorter than its header";
  EXPECT_EQ(broken(17, 27), Shape::malformed) << "no room for UDP";
  EXPECT_EQ(broken(39, 13), Shape::malformed) << "UDP longer than IP";
  EXPECT_EQ(broken(39, 7), Shape::malformed) << "UDP shorter than its header";

  Frame tcp = ipv4().tcp({});
  tcp[14 + 20 + 12] = std::byte{0x60};
  EXPECT_EQ(decode_packet(tcp).shape, Shape::malformed) << "TCP's header longer than the packet";
}

TEST(WirePacket, StopsAtWhatItDoesNotKnow)
{
  Frame arp = ipv4().udp(1, 2);
  arp[12] = std::byte{0x08};
  arp[13] = std::byte{0x06};
  EXPECT_EQ(decode_packet(arp).network, Network::none);
  EXPECT_EQ(decode_packet(arp).shape, Shape::complete);

  Frame later_fragment = ipv4().udp(1, 2);
  later_fragment[14 + 7] = std::byte{1};
  EXPECT_TRUE(decode_packet(later_fragment).fragment);
  EXPECT_EQ(decode_packet(later_fragment).transport, Transport::none);
}

/// RFC 1071: the sum over a header or segment with its right checksum is all ones.
TEST(WireBuilder, ChecksumsAddUp)
{
  const auto add = [](Bytes bytes) {
    std::uint32_t total = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i)
      total += std::to_integer<std::uint32_t>(bytes[i]) << (i % 2 == 0 ? 8U : 0U);
    return total;
  };
  const auto ones = [](std::uint32_t total) {
    while (total > 0xffff) total = (total & 0xffffU) + (total >> 16U);
    return total == 0xffff;
  };
  const Frame payload = from_hex("0102030405");
  for (const PacketBuilder& builder : every_builder())
    for (const Frame& frame : {builder.udp(1000, 2000, payload), builder.tcp({}, payload)}) {
      const Packet packet = decode_packet(frame);
      const Bytes bytes(frame);
      if (packet.network == Network::ipv4) {
        EXPECT_TRUE(ones(add(bytes.subspan(packet.network_offset, ipv4_bytes))));
      }
      const std::size_t addresses = packet.network == Network::ipv4 ? 8 : 32;
      const Bytes transport = bytes.subspan(packet.transport_offset);
      EXPECT_TRUE(ones(add(bytes.subspan(packet.transport_offset - addresses, addresses)) +
                       packet.protocol + static_cast<std::uint32_t>(transport.size()) +
                       add(transport)));
    }
}

} // namespace
} // namespace rdmalab::wire
