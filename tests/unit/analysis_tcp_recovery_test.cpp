/// Recovery of TCP, on traces written by hand.
#include "analysis/interval_set.h"
#include "analysis/recovery.h"
#include "analysis/tcp_segment.h"
#include "recovery_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmalab::analysis {
namespace {

using test::TcpScript;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Round-trip time 20 us, as ACKs come at once.
FlowRecovery judge(TcpScript& script, std::uint64_t end_ns)
{
  script.finish(end_ns);
  RecoveryReport r = analyse_recovery(script.owned.trace, script.flows);
  EXPECT_THAT(r.problems, IsEmpty());
  EXPECT_EQ(r.flows.size(), 1U);
  const TrafficTime& t = r.time.at(0);
  EXPECT_EQ(t.link.ns + t.replay.ns + t.nak_wait.ns + t.timer_wait.ns + t.other.ns, end_ns);
  return r.flows.at(0);
}

/// Segments 0 … 3, all acknowledged.
TcpScript warm()
{
  TcpScript s;
  for (std::uint32_t i = 0; i < 4; ++i) {
    s.data(100'000 + i * 8'000, i);
    s.ack(110'000 + i * 8'000, i + 1);
  }
  return s;
}

TEST(TcpRecovery, FastRetransmit)
{
  TcpScript s = warm();
  s.data(200'000, 4, true);
  for (std::uint32_t i = 5; i < 9; ++i) {
    s.data(200'000 + (i - 4) * 8'000, i);
    s.ack(210'000 + (i - 4) * 8'000, 4, 5, i + 1);
  }
  s.data(237'000, 4); // the third duplicate comes after 234 us
  s.ack(247'000, 9);
  const FlowRecovery f = judge(s, 1'000'000);
  ASSERT_THAT(f.losses, SizeIs(1));
  EXPECT_EQ(f.losses[0].position, 4'000);
  EXPECT_EQ(f.losses[0].cause, "drop-segment");
  ASSERT_THAT(f.episodes, SizeIs(1));
  const Episode& e = f.episodes[0];
  EXPECT_EQ(e.by, Trigger::fast_retransmit);
  EXPECT_EQ(e.answer, "sack");
  EXPECT_EQ(e.packets_again, 1U);
  EXPECT_EQ(e.bytes_again, 1'000U);
  EXPECT_EQ(e.packets_already_there, 0U);
  EXPECT_EQ(e.recover_ns, 47'000U);
  EXPECT_EQ(e.nak_generation_ns, 0U);
  EXPECT_EQ(e.nak_reaction_ns, 237'000U - 228'000);
}

TEST(TcpRecovery, TailLossProbe)
{
  TcpScript s = warm();
  s.data(200'000, 4);
  s.ack(210'000, 5);
  s.data(208'000, 5, true);
  s.data(216'000, 6, true);
  s.data(8'216'000, 6);      // two ticks, the least probe time-out
  s.ack(8'226'000, 5, 6, 7); // tells of the hole
  s.data(8'239'000, 5);
  s.ack(8'249'000, 7);
  const FlowRecovery f = judge(s, 9'000'000);
  ASSERT_THAT(f.episodes, SizeIs(1));
  const Episode& e = f.episodes[0];
  EXPECT_EQ(e.by, Trigger::tail_probe);
  ASSERT_THAT(e.rounds, SizeIs(2));
  EXPECT_EQ(e.rounds[0].trigger, Trigger::tail_probe);
  EXPECT_EQ(e.rounds[1].trigger, Trigger::fast_retransmit);
  EXPECT_EQ(e.losses, 2U);
  EXPECT_EQ(e.packets_again, 2U);
}

TEST(TcpRecovery, RetransmissionTimeout)
{
  TcpScript s = warm();
  s.data(200'000, 4, true);
  s.data(208'000, 5, true);
  s.data(212'000'000, 4);
  s.ack(212'010'000, 5);
  s.data(212'023'000, 5);
  s.ack(212'033'000, 6);
  const FlowRecovery f = judge(s, 220'000'000);
  ASSERT_THAT(f.episodes, SizeIs(1));
  const Episode& e = f.episodes[0];
  EXPECT_EQ(e.by, Trigger::rto);
  EXPECT_EQ(e.answer, "silence");
  EXPECT_THAT(e.rounds, SizeIs(1)) << "what follows the first is the same recovery";
  EXPECT_EQ(e.packets_again, 2U);
}

TEST(TcpRecovery, ALostRetransmissionWaitsForTheTimer)
{
  TcpScript s = warm();
  s.data(200'000, 4, true);
  for (std::uint32_t i = 5; i < 9; ++i) {
    s.data(200'000 + (i - 4) * 8'000, i);
    s.ack(210'000 + (i - 4) * 8'000, 4, 5, i + 1);
  }
  s.data(237'000, 4, true);
  s.data(240'300'000, 4);
  s.ack(240'310'000, 9);
  const FlowRecovery f = judge(s, 250'000'000);
  ASSERT_THAT(f.episodes, SizeIs(1));
  EXPECT_EQ(f.episodes[0].by, Trigger::rto);
  EXPECT_THAT(f.episodes[0].rounds, SizeIs(2));
  EXPECT_EQ(f.losses.at(1).transmission, 2U);
}

TEST(TcpRecovery, ALostAckIsCoveredByTheNext)
{
  TcpScript s = warm();
  s.data(200'000, 4);
  s.ack(210'000, 5, 0, 0, true);
  s.data(208'000, 5);
  s.ack(218'000, 6);
  const FlowRecovery f = judge(s, 1'000'000);
  ASSERT_THAT(f.losses, SizeIs(1));
  EXPECT_EQ(f.losses[0].kind, "ack");
  EXPECT_FALSE(f.losses[0].episode);
  EXPECT_THAT(f.episodes, IsEmpty());
}

TEST(TcpRecovery, ASpuriousRetransmission)
{
  TcpScript s = warm();
  s.data(200'000, 4);
  s.data(207'000, 4);
  s.ack(210'000, 5);
  const FlowRecovery f = judge(s, 1'000'000);
  EXPECT_THAT(f.losses, IsEmpty());
  ASSERT_THAT(f.episodes, SizeIs(1));
  EXPECT_EQ(f.episodes[0].cause, "no loss seen");
  EXPECT_EQ(f.episodes[0].by, Trigger::unknown);
  EXPECT_EQ(f.episodes[0].packets_already_there, 1U);
}

TEST(TcpSegment, OptionsAreReadAsFarAsTheyGo)
{
  wire::TcpHeader header;
  wire::Frame options(24, std::byte{1}); // NOPs
  wire::Writer writer(options);
  writer.u32(0x0101080a); // NOP, NOP, timestamps
  writer.u32(77);
  writer.u32(66);
  writer.u32(0x0101050a); // NOP, NOP, SACK with one block
  writer.u32(1000);
  writer.u32(2000);
  wire::Frame frame = wire::PacketBuilder().tcp(header, options);
  frame[14 + 20 + 12] = std::byte{0xb0};
  TcpSegment s = decode_tcp(frame, wire::decode_packet(frame));
  EXPECT_TRUE(s.has_timestamps);
  EXPECT_EQ(s.timestamp, 77U);
  EXPECT_EQ(s.timestamp_echo, 66U);
  EXPECT_THAT(s.sack, testing::ElementsAre(std::pair(1000U, 2000U)));
  EXPECT_EQ(s.length, 0U);

  const wire::Bytes cut = wire::Bytes(frame).first(frame.size() - 2);
  s = decode_tcp(cut, wire::decode_packet(cut, frame.size()));
  EXPECT_THAT(s.sack, IsEmpty());
  frame[14 + 20 + 20 + 3] = std::byte{0}; // an option of length 0
  EXPECT_FALSE(decode_tcp(frame, wire::decode_packet(frame)).has_timestamps);
}

TEST(IntervalSet, MergesAndReaches)
{
  IntervalSet set;
  EXPECT_TRUE(set.add(10, 20));
  EXPECT_TRUE(set.add(30, 40));
  EXPECT_FALSE(set.add(12, 18));
  EXPECT_EQ(set.reaches(0), 0);
  EXPECT_TRUE(set.add(0, 10));
  EXPECT_EQ(set.reaches(0), 20);
  EXPECT_TRUE(set.add(15, 30));
  EXPECT_EQ(set.reaches(0), 40);
  EXPECT_TRUE(set.contains(5, 40));
  EXPECT_FALSE(set.contains(5, 41));
}

} // namespace
} // namespace rdmalab::analysis
