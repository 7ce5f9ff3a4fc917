/// The tables that the programs look up, and what they write: all without a kernel.
#include "base/random.h"
#include "fault/addresses.h"
#include "fault/hold.h"
#include "fault/tables.h"
#include "fault/trace.h"
#include "net/message.h"
#include "wire/builder.h"
#include "wire/icrc.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

namespace rdmalab::fault {
namespace {

using testing::HasSubstr;

/// What the program does, in C++: the image of the bytes, moved on over zeros.
std::uint32_t change_by_tables(const std::vector<std::byte>& flipped, std::size_t behind)
{
  static const auto table = crc_table();
  static const auto zeros = crc_zeros();
  std::uint32_t crc = 0;
  for (const std::byte byte : flipped)
    crc = table[(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xffU] ^ crc >> 8U;
  for (std::size_t power = 0; power < zeros.size(); ++power) {
    if ((behind >> power & 1U) == 0) continue;
    std::uint32_t moved = 0;
    for (std::size_t bit = 0; bit < 32; ++bit)
      if ((crc >> bit & 1U) != 0) moved ^= zeros[power][bit];
    crc = moved;
  }
  return crc;
}

TEST(FaultTables, CrcTablesAgreeWithTheWireRoom)
{
  for (std::size_t length = 1; length <= 8; ++length) {
    std::vector<std::byte> flipped(length);
    for (std::size_t i = 0; i < length; ++i)
      flipped[i] = static_cast<std::byte>(0x91 * (i + length));
    for (const std::size_t behind : {0U, 1U, 2U, 3U, 255U, 1024U, 4095U, 9000U, 16383U})
      EXPECT_EQ(change_by_tables(flipped, behind), wire::icrc_change(flipped, behind))
          << length << " " << behind;
  }
}

TEST(FaultTables, OpcodesFollowTheWireRoomsTable)
{
  const auto kinds = opcode_kinds();
  const auto headers = opcode_headers();
  EXPECT_EQ(kinds[0x00], FAULT_DATA | 1 << 4); // SEND first
  EXPECT_EQ(kinds[0x11], FAULT_ACK);
  EXPECT_EQ(kinds[0x0f], FAULT_READ_RESPONSE | 3 << 4);
  EXPECT_EQ(kinds[0x81], FAULT_CNP);
  EXPECT_EQ(kinds[0xff], FAULT_ROCE_OTHER);
  EXPECT_EQ(headers[0x00], 12);
  EXPECT_EQ(headers[0x0a], 12 + 16);
  EXPECT_EQ(headers[0x11], 12 + 4);
  EXPECT_EQ(headers[0x13], 12 + 28);
}

TEST(FaultTables, DrawsAreTheBaseRoomsMixing)
{
  EXPECT_EQ(fault_mix(12345), mix64(12345));
  EXPECT_LT(fault_draw(1, 2, 3), 1ULL << 32U);
}

TEST(FaultTables, EveryAddressIsFound)
{
  std::vector<std::vector<wire::IpAddress>> hosts(32);
  for (std::size_t i = 0; i < hosts.size(); ++i)
    hosts[i] = {*wire::parse_ip("10.0.0." + std::to_string(i + 1)),
                *wire::parse_ip("fd00::" + std::to_string(i + 1))};
  const auto table = make_address_table(hosts);
  ASSERT_TRUE(table) << table.error().message();
  const auto host_of = [&table](const wire::IpAddress& address) {
    const std::uint32_t key = address_key(address);
    const fault_address& slot = table->slots[(key * table->factor) >> 24U];
    return slot.key == key ? slot.host : std::uint32_t{FAULT_NO_HOST};
  };
  for (std::size_t i = 0; i < hosts.size(); ++i)
    for (const auto& address : hosts[i]) EXPECT_EQ(host_of(address), i);
  EXPECT_EQ(host_of(*wire::parse_ip("10.0.1.1")), +FAULT_NO_HOST);
  EXPECT_EQ(host_of(*wire::parse_ip("0.0.0.0")), +FAULT_NO_HOST);
}

TEST(FaultTables, TwoHostsOfOneAddressAreRefused)
{
  const std::vector<std::vector<wire::IpAddress>> hosts{{*wire::parse_ip("10.0.0.1")},
                                                        {*wire::parse_ip("10.0.0.1")}};
  const auto table = make_address_table(hosts);
  ASSERT_FALSE(table);
  EXPECT_THAT(table.error().message(), HasSubstr("10.0.0.1"));
}

TEST(FaultTables, FqIsToldToKeepEverything)
{
  const net::Message message = fq_message(5);
  const auto body = message.bytes().subspan(sizeof(nlmsghdr));
  const auto header = net::value_of<tcmsg>(body);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->tcm_ifindex, 5);
  EXPECT_EQ(header->tcm_parent, TC_H_ROOT);
  const net::Attributes attributes(body, sizeof(tcmsg));
  EXPECT_EQ(attributes.text(TCA_KIND), "fq");
  const net::Attributes options(attributes.find(TCA_OPTIONS).value_or(net::Bytes{}));
  EXPECT_EQ(options.get<std::uint32_t>(TCA_FQ_PLIMIT), 1'000'000U);
  EXPECT_EQ(options.get<std::uint32_t>(TCA_FQ_FLOW_PLIMIT), 1'000'000U);
  EXPECT_EQ(options.get<std::uint32_t>(TCA_FQ_RATE_ENABLE), 0U);
  EXPECT_EQ(options.get<std::uint32_t>(TCA_FQ_HORIZON), 120'000'000U);
}

/// One record with `frame`'s first bytes.
void add_record(std::vector<std::byte>& records, std::size_t size, fault_record header,
                const wire::Frame& frame)
{
  header.captured = static_cast<__u16>(std::min(frame.size(), size - sizeof(fault_record)));
  header.wire_length = static_cast<__u32>(frame.size());
  const std::size_t at = records.size();
  records.resize(at + size);
  std::memcpy(records.data() + at, &header, sizeof(header));
  std::memcpy(records.data() + at + sizeof(header), frame.data(), header.captured);
}

TEST(FaultTrace, IsSortedRelativeAndKeepsItsBytes)
{
  const wire::PacketBuilder builder;
  const wire::Frame first = builder.udp(1, 2, {});
  const wire::Frame second = builder.udp(3, 4, std::vector<std::byte>(200));
  constexpr std::size_t size = sizeof(fault_record) + 96;
  std::vector<std::byte> records;
  fault_record header{};
  header.time = 1500;
  header.host = 1;
  header.point = FAULT_ARRIVED;
  add_record(records, size, header, second);
  header.time = 1200;
  header.host = 0;
  header.point = FAULT_SENT;
  header.rule = 3;
  header.action = FAULT_FORGE;
  add_record(records, size, header, first);
  header = {};
  header.time = 900; // before the start
  add_record(records, size, header, first);

  const CapturedTrace captured = decode_trace(records, size, 1000);
  const auto& packets = captured.trace.packets;
  ASSERT_EQ(packets.size(), 3U);
  EXPECT_EQ(packets[0].time_ns, 0U);
  EXPECT_EQ(packets[1].time_ns, 200U);
  EXPECT_EQ(packets[1].rule, 3);
  EXPECT_EQ(packets[1].action, wire::FaultAction::forge);
  EXPECT_EQ(packets[1].point, wire::TracePoint::entered);
  EXPECT_TRUE(std::ranges::equal(packets[1].bytes, first));
  EXPECT_EQ(packets[2].time_ns, 500U);
  EXPECT_EQ(packets[2].host, 1);
  EXPECT_EQ(packets[2].point, wire::TracePoint::arrived);
  EXPECT_EQ(packets[2].wire_length, second.size());
  EXPECT_TRUE(std::ranges::equal(packets[2].bytes, std::span(second).first(96)));
}

TEST(FaultTrace, PutsTheTagBack)
{
  const wire::Frame bare = wire::PacketBuilder().udp(1, 2, {});
  const wire::Frame tagged = wire::PacketBuilder().vlan(100, 5).udp(1, 2, {});
  std::vector<std::byte> records;
  fault_record header{};
  header.has_vlan = 1;
  header.vlan_tci = 5U << 13U | 100U;
  constexpr std::size_t size = sizeof(fault_record) + 128;
  add_record(records, size, header, bare);
  add_record(records, size, header, bare);
  const CapturedTrace captured = decode_trace(records, size, 0);
  ASSERT_EQ(captured.trace.packets.size(), 2U);
  for (const auto& packet : captured.trace.packets) {
    EXPECT_TRUE(std::ranges::equal(packet.bytes, tagged));
    EXPECT_EQ(packet.wire_length, tagged.size());
  }
}

} // namespace
} // namespace rdmalab::fault
