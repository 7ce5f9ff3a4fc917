/// The ICRC against packets that others made: the ones that scapy's tests publish
/// (secdev/scapy, test/contrib/roce.uts; the CNP there was captured from a ConnectX-4 Lx), and
/// frames that rxe sent in a guest.
#include "base/file.h"
#include "wire/icrc.h"
#include "wire_fixture.h"

#include <algorithm>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace rdmalab::wire {
namespace {

using test::every_builder;
using test::from_hex;
using test::headers;

/// The ICRC's bytes as they stand in the frame, as scapy writes them.
Frame icrc_of(const Frame& frame)
{
  return {frame.end() - icrc_bytes, frame.end()};
}

const MacAddress example_mac{{0x24, 0x8a, 0x07, 0xa8, 0xfa, 0x22}};

/// The packet of scapy's tests "RoCE layer" and "RoCE over IPv6": 18 bytes sent by UC.
Frame example(PacketBuilder builder)
{
  RoceHeaders send = headers("UC_SEND_ONLY", 13571856, 211);
  const Frame payload = from_hex("4630818be28935d90e9a95505401be885e50");
  return builder.macs(example_mac, example_mac).source_port(49152).roce(send, payload);
}

TEST(WireIcrc, PublishedIpv4)
{
  PacketBuilder builder;
  builder.addresses(*parse_ip("192.168.0.7"), *parse_ip("192.168.0.7"));
  const Frame frame = example(builder.ecn(1).identification(1144).ttl(64));
  EXPECT_EQ(icrc_of(frame), from_hex("78f353f3"));
  EXPECT_EQ(frame[24], std::byte{0xb4}) << "IPv4's checksum, published too";
  EXPECT_EQ(frame[25], std::byte{0xd5});
}

TEST(WireIcrc, PublishedIpv6)
{
  PacketBuilder builder;
  builder.addresses(*parse_ip("2022::1023"), *parse_ip("2023::1024"));
  const Frame frame = example(builder.dscp(226 >> 2).ecn(226 & 3).flow_label(0x1face).ttl(255));
  EXPECT_EQ(icrc_of(frame), from_hex("3e5b743b"));
}

TEST(WireIcrc, PublishedCnpOfAConnectX4)
{
  const Frame frame = from_hex("e41d2dab2bc27cfe90643b32080045c2"
                               "003c718c4000401191610a0011010a00"
                               "1201000012b7002800008100ffff4000"
                               "01180000000000000000000000000000"
                               "00000000000082fd002a");
  const Packet packet = decode_packet(frame);
  EXPECT_EQ(icrc_holds(frame, packet), true);
  EXPECT_EQ(compute_icrc(frame, packet), 0x2a00fd82U);
  const auto roce = decode_roce(frame, packet);
  ASSERT_TRUE(roce);
  EXPECT_EQ(roce->packet_class, PacketClass::cnp);
  EXPECT_TRUE(roce->headers.bth.becn);
  EXPECT_EQ(roce->headers.bth.destination_qp, 0x118U);
  EXPECT_EQ(roce->payload_length, 0U);
}

TEST(WireIcrc, PacketsThatRxeMade)
{
  const auto text = read_file(std::string(RDMALAB_SOURCE_DIR) + "/tests/golden/wire/rxe.hex");
  ASSERT_TRUE(text) << text.error().message();
  std::istringstream lines(*text);
  int v4 = 0;
  int v6 = 0;
  for (std::string name, hex; lines >> name >> hex;) {
    SCOPED_TRACE(name);
    Frame frame = from_hex(hex);
    const Packet packet = decode_packet(frame);
    ASSERT_EQ(packet.shape, Shape::complete);
    EXPECT_EQ(icrc_holds(frame, packet), true);
    ++(packet.network == Network::ipv4 ? v4 : v6);

    const auto roce = decode_roce(frame, packet);
    ASSERT_TRUE(roce);
    ASSERT_NE(roce->opcode, nullptr);
    EXPECT_EQ(roce->opcode->name, name.substr(0, name.find('/')));
    EXPECT_FALSE(roce->malformed);
    Frame encoded(encoded_bytes(roce->headers));
    Writer writer(encoded);
    EXPECT_TRUE(encode(roce->headers, writer));
    EXPECT_TRUE(
        std::ranges::equal(encoded, Bytes(frame).subspan(packet.payload_offset, encoded.size())));
  }
  EXPECT_GT(v4, 0);
  EXPECT_GT(v6, 0);
}

/// What routers may change doesn't count; every other bit does.
TEST(WireIcrc, CoversAllButWhatRoutersChange)
{
  for (const PacketBuilder& builder : every_builder()) {
    const Frame frame = builder.roce(headers("RC_SEND_ONLY", 7), from_hex("01020304"));
    const Packet packet = decode_packet(frame);
    const std::size_t ip = packet.network_offset;
    const std::size_t udp = packet.transport_offset;
    const bool v4 = packet.network == Network::ipv4;
    const auto masked = [&](std::size_t at, unsigned bit) {
      if (at < ip) return true; // Ethernet has a checksum of its own
      if (at == udp + 6 || at == udp + 7 || at == packet.payload_offset + 4) return true;
      if (v4) return at == ip + 1 || at == ip + 8 || at == ip + 10 || at == ip + 11;
      return (at == ip && bit < 4) || (at > ip && at < ip + 4) || at == ip + 7;
    };
    for (std::size_t at = 0; at < frame.size() - icrc_bytes; ++at)
      for (unsigned bit = 0; bit < 8; ++bit) {
        Frame changed = frame;
        changed[at] ^= std::byte{1} << bit;
        // With the offsets of before, since some bits make another packet of it.
        EXPECT_EQ(icrc_holds(changed, packet), masked(at, bit)) << at << " bit " << bit;
      }
  }
}

TEST(WireIcrc, FixesACorruptedPacket)
{
  for (const PacketBuilder& builder : every_builder()) {
    Frame frame = builder.roce(headers("RC_SEND_MIDDLE", 7), Frame(1024, std::byte{0xa5}));
    const Packet packet = decode_packet(frame);
    frame[frame.size() - 100] ^= std::byte{0x40};
    EXPECT_EQ(icrc_holds(frame, packet), false);
    EXPECT_TRUE(fix_icrc(frame, packet));
    EXPECT_EQ(icrc_holds(frame, packet), true);
  }
}

TEST(WireIcrc, AChangeNeedsOnlyThePlaceOfTheFlippedBytes)
{
  const Frame frame = test::ipv4().roce(headers("RC_SEND_MIDDLE", 7), Frame(1024));
  const Packet packet = decode_packet(frame);
  const auto before = compute_icrc(frame, packet).value();
  for (const std::size_t length : {1U, 4U, 100U})
    for (const std::size_t behind : {0U, 1U, 64U, 900U}) {
      const Frame flipped(length, std::byte{0x5a});
      Frame changed = frame;
      const std::size_t begin = frame.size() - icrc_bytes - behind - length;
      for (std::size_t i = 0; i < length; ++i) changed[begin + i] ^= flipped[i];
      EXPECT_EQ(compute_icrc(changed, packet), before ^ icrc_change(flipped, behind))
          << length << " bytes, " << behind << " behind";
    }
  EXPECT_EQ(icrc_change({}, 10), 0U);
}

TEST(WireIcrc, GoesOnFromASeed)
{
  const Frame frame = test::ipv6().roce(headers("RC_RDMA_WRITE_ONLY", 7), Frame(64));
  const Packet packet = decode_packet(frame);
  std::uint32_t crc = icrc_seed(frame, packet).value();
  for (std::size_t at = packet.payload_offset + bth_bytes; at < frame.size() - icrc_bytes; ++at)
    crc = icrc_continue(crc, Bytes(frame).subspan(at, 1));
  EXPECT_EQ(crc, stored_icrc(frame, packet));
}

TEST(WireIcrc, NothingIsSaidOfACutOrForeignPacket)
{
  Frame frame = test::ipv4().roce(headers("RC_SEND_ONLY", 7), Frame(64));
  const std::size_t whole = frame.size();
  frame.resize(whole - 1);
  const Packet cut = decode_packet(frame, whole);
  EXPECT_FALSE(compute_icrc(frame, cut));
  EXPECT_FALSE(icrc_holds(frame, cut));
  EXPECT_FALSE(fix_icrc(frame, cut));
  EXPECT_TRUE(icrc_seed(frame, cut)) << "the headers are there";
  const Frame tcp = test::ipv4().tcp({});
  EXPECT_FALSE(icrc_seed(tcp, decode_packet(tcp)));
}

} // namespace
} // namespace rdmalab::wire
