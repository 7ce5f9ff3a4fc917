/// The opcode table, syndromes, PSN arithmetic, and RoCEv2's headers both ways.
#include "wire/roce.h"
#include "wire_fixture.h"

#include <set>

#include <gtest/gtest.h>

namespace rdmalab::wire {
namespace {

using test::every_builder;
using test::from_hex;
using test::headers;
using test::ipv4;

TEST(WireOpcode, TableIsConsistent)
{
  std::set<std::string_view> names;
  int last = -1;
  for (const Opcode& opcode : opcodes()) {
    EXPECT_GT(int{opcode.code}, last) << "by code, none twice";
    last = opcode.code;
    EXPECT_TRUE(names.insert(opcode.name).second) << opcode.name;
    EXPECT_EQ(find_opcode(opcode.code), &opcode);
    EXPECT_EQ(find_opcode(opcode.name), &opcode);
    EXPECT_TRUE(opcode.name.starts_with(to_string(opcode.service))) << opcode.name;
    const std::string_view position = to_string(opcode.position);
    const bool named = opcode.name.find("_FIRST") != opcode.name.npos ||
                       opcode.name.find("_MIDDLE") != opcode.name.npos ||
                       opcode.name.find("_LAST") != opcode.name.npos;
    EXPECT_EQ(named, position == "first" || position == "middle" || position == "last");
    EXPECT_EQ(opcode.name.find("_WITH_IMMEDIATE") != opcode.name.npos,
              (opcode.extensions & has_immediate) != 0);
  }
  EXPECT_EQ(find_opcode(std::uint8_t{0x15}), nullptr);
  EXPECT_EQ(find_opcode(std::uint8_t{0xff}), nullptr);
  EXPECT_EQ(find_opcode("RC_NOTHING"), nullptr);
}

TEST(WireOpcode, CodesOfTheSpecification)
{
  EXPECT_EQ(find_opcode("RC_SEND_FIRST")->code, 0x00);
  EXPECT_EQ(find_opcode("RC_RDMA_WRITE_ONLY")->code, 0x0a);
  EXPECT_EQ(find_opcode("RC_RDMA_READ_REQUEST")->code, 0x0c);
  EXPECT_EQ(find_opcode("RC_ACKNOWLEDGE")->code, 0x11);
  EXPECT_EQ(find_opcode("RC_FETCH_ADD")->code, 0x14);
  EXPECT_EQ(find_opcode("UC_SEND_ONLY")->code, 0x24);
  EXPECT_EQ(find_opcode("UD_SEND_ONLY")->code, 0x64);
  EXPECT_EQ(find_opcode("CNP")->code, 0x81);
}

TEST(WireOpcode, ClassesOfPackets)
{
  const auto of = [](std::string_view name, std::optional<std::uint8_t> syndrome = {}) {
    return to_string(classify(find_opcode(name), syndrome));
  };
  EXPECT_EQ(of("RC_SEND_MIDDLE"), "data");
  EXPECT_EQ(of("UD_SEND_ONLY"), "data");
  EXPECT_EQ(of("RC_RDMA_READ_REQUEST"), "read-request");
  EXPECT_EQ(of("RC_RDMA_READ_RESPONSE_LAST", 0x1f), "read-response");
  EXPECT_EQ(of("RC_COMPARE_SWAP"), "atomic");
  EXPECT_EQ(of("RC_ATOMIC_ACKNOWLEDGE", 0), "atomic-ack");
  EXPECT_EQ(of("CNP"), "cnp");
  EXPECT_EQ(of("RC_ACKNOWLEDGE", 0x1f), "ack");
  EXPECT_EQ(of("RC_ACKNOWLEDGE", 0x60), "nak");
  EXPECT_EQ(of("RC_ACKNOWLEDGE", 0x20), "rnr");
  EXPECT_EQ(of("RC_ACKNOWLEDGE", 0x40), "other");
  EXPECT_EQ(of("RC_ACKNOWLEDGE"), "other");
  EXPECT_EQ(of("RC_NOTHING"), "other");
  for (int i = 0; i <= static_cast<int>(PacketClass::other); ++i)
    EXPECT_EQ(parse_packet_class(to_string(static_cast<PacketClass>(i))),
              static_cast<PacketClass>(i));
  EXPECT_FALSE(parse_packet_class("acks"));
}

TEST(WireSyndrome, DecodesEveryByteBack)
{
  for (int byte = 0; byte < 0x80; ++byte) {
    const auto syndrome = static_cast<std::uint8_t>(byte);
    EXPECT_EQ(Syndrome::decode(syndrome).encode(), syndrome);
  }
  EXPECT_EQ(Syndrome::decode(0xe0).kind, Syndrome::Kind::reserved);
  EXPECT_EQ(Syndrome::decode(0x60), Syndrome::nak(NakCode::psn_sequence_error));
  EXPECT_EQ(Syndrome::decode(0x62), Syndrome::nak(NakCode::remote_access_error));
  EXPECT_EQ(Syndrome::decode(0x1f), Syndrome::ack());
  EXPECT_EQ(Syndrome::decode(0x2c), Syndrome::rnr(12));
  EXPECT_EQ(Syndrome::decode(0x1f).text(), "ACK");
  EXPECT_EQ(Syndrome::decode(0x60).text(), "NAK PSN sequence error");
  EXPECT_EQ(Syndrome::decode(0x6f).text(), "NAK reserved code 15");
  EXPECT_EQ(Syndrome::decode(0x2c).text(), "RNR NAK 0.64 ms");
}

TEST(WireSyndrome, RnrTimers)
{
  EXPECT_EQ(rnr_timer_ns(0), 655'360'000U);
  EXPECT_EQ(rnr_timer_ns(1), 10'000U);
  EXPECT_EQ(rnr_timer_ns(12), 640'000U);
  EXPECT_EQ(rnr_timer_ns(31), 491'520'000U);
  EXPECT_EQ(Syndrome::rnr(12).rnr_timer_ns(), 640'000U);
  EXPECT_EQ(Syndrome::ack().rnr_timer_ns(), 0U);
  for (std::uint8_t code = 2; code < 32; ++code)
    EXPECT_GT(rnr_timer_ns(code), rnr_timer_ns(code - 1)) << int{code};
}

TEST(WirePsn, WrapsAround)
{
  EXPECT_EQ(psn_distance(5, 8), 3);
  EXPECT_EQ(psn_distance(8, 5), -3);
  EXPECT_EQ(psn_distance(0xffffff, 0), 1);
  EXPECT_EQ(psn_distance(0, 0xffffff), -1);
  EXPECT_EQ(psn_distance(0, 0x7fffff), 0x7fffff);
  EXPECT_EQ(psn_distance(0, 0x800000), -0x800000);
  EXPECT_EQ(psn_add(0xffffff, 1), 0U);
  EXPECT_EQ(psn_add(0, -1), 0xffffffU);
  EXPECT_EQ(psn_add(3, -0x1000003), 0U);
  EXPECT_TRUE(psn_before(0xffffff, 0));
  EXPECT_FALSE(psn_before(7, 7));
}

/// Headers whose fields all differ, so that a mix-up shows.
RoceHeaders filled(const Opcode& opcode)
{
  RoceHeaders headers = headers_of(opcode);
  headers.bth.solicited = true;
  headers.bth.migrated = false;
  headers.bth.partition_key = 0x8123;
  headers.bth.becn = true;
  headers.bth.destination_qp = 0xabcdef;
  headers.bth.ack_request = true;
  headers.bth.psn = 0x123456;
  if (headers.deth) headers.deth = Deth{0x11111111, 0x222222};
  if (headers.reth) headers.reth = Reth{0x0102030405060708, 0x33333333, 0x1001};
  if (headers.atomic_eth)
    headers.atomic_eth = AtomicEth{0x1112131415161718, 0x44444444, 0x55, 0x6666666666666666};
  if (headers.aeth) headers.aeth = Aeth{0x1f, 0x777777};
  if (headers.atomic_ack_eth) headers.atomic_ack_eth = AtomicAckEth{0x8888888888888888};
  if (headers.immediate) headers.immediate = 0x99999999;
  if (headers.invalidate_key) headers.invalidate_key = 0xaaaaaaaa;
  return headers;
}

TEST(WireRoce, EveryOpcodeComesBackInEveryKindOfFrame)
{
  const Frame payload = from_hex("0102030405");
  for (const PacketBuilder& builder : every_builder())
    for (const Opcode& opcode : opcodes()) {
      SCOPED_TRACE(opcode.name);
      RoceHeaders sent = filled(opcode);
      const Bytes data = opcode.role == Role::data ? Bytes(payload) : Bytes();
      const Frame frame = builder.roce(sent, data);
      const Packet packet = decode_packet(frame);
      const auto got = decode_roce(frame, packet);
      ASSERT_TRUE(got);
      sent.bth.pad = data.empty() ? 0 : 3;
      EXPECT_EQ(got->headers, sent);
      EXPECT_EQ(got->opcode, &opcode);
      EXPECT_EQ(got->position(), opcode.position);
      EXPECT_FALSE(got->malformed);
      EXPECT_EQ(got->payload_length, data.size());
      EXPECT_EQ(got->icrc_offset, frame.size() - icrc_bytes);
      EXPECT_EQ(got->payload_offset + data.size() + sent.bth.pad, got->icrc_offset);
    }
}

/// The bytes as IB specification vol. 1, 9.2 draws the BTH and 9.3.5 the AETH.
TEST(WireRoce, BytesOfAnAcknowledgement)
{
  RoceHeaders nak = headers("RC_ACKNOWLEDGE", 0x00abcd, 0x000123);
  nak.bth.fecn = true;
  nak.aeth = Aeth{Syndrome::nak(NakCode::psn_sequence_error).encode(), 0x42};
  Frame bytes(encoded_bytes(nak));
  Writer writer(bytes);
  EXPECT_TRUE(encode(nak, writer));
  EXPECT_EQ(bytes, from_hex("11 40 ffff 80 000123 00 00abcd 60 000042"));
  Writer too_small(MutableBytes(bytes).first(15));
  EXPECT_FALSE(encode(nak, too_small));
}

TEST(WireRoce, ACutPacketKeepsWhatIsThere)
{
  const RoceHeaders write = filled(*find_opcode("RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE"));
  const Frame frame = ipv4().roce(write, from_hex("01020304"));
  for (std::size_t length = 0; length < frame.size(); ++length) {
    const Frame cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(length));
    const Packet packet = decode_packet(cut, frame.size());
    const auto got = decode_roce(cut, packet);
    ASSERT_EQ(got.has_value(), length >= 42 + bth_bytes) << length;
    if (!got) continue;
    EXPECT_EQ(got->headers.bth, write.bth);
    EXPECT_EQ(got->headers.reth.has_value(), length >= 42 + bth_bytes + reth_bytes) << length;
    EXPECT_EQ(got->headers.immediate.has_value(), length >= 42 + bth_bytes + reth_bytes + 4);
    EXPECT_EQ(got->payload_length, 4U) << "from the headers, however short the capture is";
    EXPECT_FALSE(got->malformed);
  }
}

TEST(WireRoce, TooShortForItsOpcodeIsMalformed)
{
  // An acknowledgement without its AETH.
  RoceHeaders headers = test::headers("RC_ACKNOWLEDGE", 1);
  headers.aeth.reset();
  const Frame frame = ipv4().roce(headers);
  const auto got = decode_roce(frame, decode_packet(frame));
  ASSERT_TRUE(got);
  EXPECT_TRUE(got->malformed);
  EXPECT_FALSE(got->headers.aeth) << "the ICRC's four bytes are no AETH";
  EXPECT_EQ(got->packet_class, PacketClass::other);
}

} // namespace
} // namespace rdmalab::wire
