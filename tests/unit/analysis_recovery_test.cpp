/// Recovery of RC queue pairs, on traces whose every packet is known.
#include "analysis/recovery.h"
#include "base/json.h"
#include "recovery_fixture.h"
#include "wire/icrc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmalab::analysis {
namespace {

using test::FaultRule;
using test::RcScene;
using test::RcSetup;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using wire::FaultAction;
using wire::PacketClass;

std::uint64_t sum(const TrafficTime& t)
{
  return t.link.ns + t.replay.ns + t.nak_wait.ns + t.timer_wait.ns + t.other.ns;
}
std::uint32_t sum_ppm(const TrafficTime& t)
{
  return t.link.ppm + t.replay.ppm + t.nak_wait.ppm + t.timer_wait.ppm + t.other.ppm;
}

/// The report of a scene, after what holds for all of them.
RecoveryReport judge(const RcScene& scene)
{
  RecoveryReport report = analyse_recovery(scene.owned.trace, scene.flows);
  for (const TrafficTime& t : report.time) {
    EXPECT_EQ(sum(t), t.window_ns);
    EXPECT_EQ(sum_ppm(t), t.window_ns > 0 ? 1'000'000U : 0U);
  }
  for (const FlowRecovery& f : report.flows) {
    if (f.check.violation) {
      ADD_FAILURE() << f.check.violation->rule << ": " << f.check.violation->detail;
    }
  }
  return report;
}

RcScene with(std::vector<FaultRule> faults)
{
  RcSetup setup;
  setup.faults = std::move(faults);
  return RcScene(setup);
}

TEST(Recovery, NothingLost)
{
  const RecoveryReport r = judge(with({}));
  ASSERT_THAT(r.flows, SizeIs(1));
  EXPECT_THAT(r.problems, IsEmpty());
  EXPECT_THAT(r.flows[0].losses, IsEmpty());
  EXPECT_THAT(r.flows[0].episodes, IsEmpty());
  EXPECT_TRUE(r.flows[0].check.checked);
  EXPECT_EQ(r.flows[0].packets, 100U);
  EXPECT_EQ(r.flows[0].bytes, 102'400U);
  EXPECT_EQ(r.time[0].replay.ns, 0U);
  EXPECT_EQ(r.time[0].nak_wait.ns + r.time[0].timer_wait.ns, 0U);
}

TEST(Recovery, OneLossByNak)
{
  const RecoveryReport r = judge(with({{"drop-40", PacketClass::data, 40}}));
  const FlowRecovery& f = r.flows.at(0);
  ASSERT_THAT(f.losses, SizeIs(1));
  EXPECT_EQ(f.losses[0].cause, "drop-40");
  EXPECT_EQ(f.losses[0].position, 40);
  EXPECT_EQ(f.losses[0].transmission, 1U);
  EXPECT_EQ(f.losses[0].episode, 0U);
  ASSERT_THAT(f.episodes, SizeIs(1));
  const Episode& e = f.episodes[0];
  EXPECT_EQ(e.by, Trigger::nak);
  EXPECT_EQ(e.answer, "nak");
  ASSERT_THAT(e.answers, SizeIs(1));
  EXPECT_EQ(e.answers[0].psn, 40);
  // 41 enters 8 us after 40 and reveals the gap 10 us later; the NAK takes 3 + 10 and is there
  // after 31 us. By then 41, 42 and 43 are sent, and all come and are thrown away. 40 has the
  // sender's next turn, after 32 us.
  EXPECT_EQ(e.nak_generation_ns, 3'000U);
  EXPECT_EQ(e.nak_reaction_ns, 1'000U);
  ASSERT_THAT(e.rounds, SizeIs(1));
  EXPECT_EQ(e.rounds[0].position, 40);
  EXPECT_EQ(e.packets_again, 4U);
  EXPECT_EQ(e.bytes_again, 4U * 1024);
  EXPECT_EQ(e.packets_thrown_away, 3U);
  EXPECT_EQ(e.packets_already_there, 0U);
  EXPECT_EQ(f.packets_again, 4U);
  EXPECT_EQ(e.recover_ns, 32'000U + 3 * 8'000 + 10'000);
}

TEST(Recovery, LostRetransmissionWaitsForTheTimer)
{
  const RecoveryReport r =
      judge(with({{"first", PacketClass::data, 40, 1}, {"second", PacketClass::data, 40, 2}}));
  const FlowRecovery& f = r.flows.at(0);
  ASSERT_THAT(f.episodes, SizeIs(1));
  const Episode& e = f.episodes[0];
  EXPECT_EQ(e.by, Trigger::timer);
  EXPECT_EQ(e.losses, 2U);
  EXPECT_THAT(e.answers, SizeIs(1)) << "a responder NAKs a gap once";
  ASSERT_THAT(e.rounds, SizeIs(2));
  EXPECT_EQ(e.rounds[0].trigger, Trigger::nak);
  EXPECT_EQ(e.rounds[1].trigger, Trigger::timer);
  EXPECT_GE(e.rounds[1].quiet_ns, 1'900'000U);
  EXPECT_EQ(f.losses.at(1).transmission, 2U);
  EXPECT_EQ(f.losses.at(1).cause, "second");
  EXPECT_GT(r.time.at(0).timer_wait.ns, 1'000'000U);
}

TEST(Recovery, LostNakWaitsForTheTimer)
{
  const RecoveryReport r =
      judge(with({{"drop-40", PacketClass::data, 40}, {"drop-nak", PacketClass::nak, 40}}));
  const FlowRecovery& f = r.flows.at(0);
  ASSERT_THAT(f.episodes, SizeIs(1));
  const Episode& e = f.episodes[0];
  EXPECT_EQ(e.by, Trigger::timer);
  ASSERT_THAT(e.answers, SizeIs(1));
  EXPECT_FALSE(e.answers[0].arrived_ns);
  EXPECT_FALSE(e.nak_reaction_ns);
  ASSERT_THAT(f.losses, SizeIs(2));
  EXPECT_EQ(f.losses[1].kind, "nak");
  EXPECT_EQ(f.losses[1].episode, 0U);
  EXPECT_EQ(r.time.at(0).nak_wait.ns, 0U);
}

TEST(Recovery, LostAckIsCoveredByTheNext)
{
  const RecoveryReport r = judge(with({{"drop-ack", PacketClass::ack, 19}}));
  const FlowRecovery& f = r.flows.at(0);
  ASSERT_THAT(f.losses, SizeIs(1));
  EXPECT_EQ(f.losses[0].kind, "ack");
  EXPECT_FALSE(f.losses[0].episode);
  EXPECT_THAT(f.episodes, IsEmpty());
}

TEST(Recovery, LastAckLostWaitsForTheTimer)
{
  const RecoveryReport r = judge(with({{"drop-ack", PacketClass::ack, 99}}));
  const FlowRecovery& f = r.flows.at(0);
  ASSERT_THAT(f.episodes, SizeIs(1));
  const Episode& e = f.episodes[0];
  EXPECT_EQ(e.kind, "ack");
  EXPECT_EQ(e.by, Trigger::timer);
  EXPECT_EQ(e.packets_again, 20U);
  EXPECT_EQ(e.packets_already_there, 20U) << "the receiver had all of them";
  EXPECT_TRUE(e.end_ns);
}

TEST(Recovery, LastPacketLostWaitsForTheTimer)
{
  const RecoveryReport r = judge(with({{"drop-last", PacketClass::data, 99}}));
  const Episode& e = r.flows.at(0).episodes.at(0);
  EXPECT_EQ(e.answer, "silence");
  EXPECT_EQ(e.by, Trigger::timer);
  EXPECT_FALSE(e.nak_generation_ns);
  EXPECT_THAT(e.answers, IsEmpty());
}

TEST(Recovery, ReadResponseLost)
{
  RcSetup setup;
  setup.read = true;
  setup.packets = 40;
  setup.message = 40;
  setup.faults = {{"drop-response", PacketClass::read_response, 7}};
  const RecoveryReport r = judge(RcScene(setup));
  const FlowRecovery& f = r.flows.at(0);
  ASSERT_THAT(f.episodes, SizeIs(1));
  const Episode& e = f.episodes[0];
  EXPECT_EQ(e.kind, "read-response");
  EXPECT_EQ(e.by, Trigger::implied_nak);
  EXPECT_EQ(e.answer, "later response");
  EXPECT_EQ(e.rounds.at(0).position, 7) << "the READ is resumed where it broke off";
  EXPECT_EQ(e.nak_reaction_ns, 3'000U);
  EXPECT_GT(e.packets_thrown_away, 0U);
  EXPECT_TRUE(e.end_ns);
}

TEST(Recovery, ReadRequestLostWaitsForTheTimer)
{
  RcSetup setup;
  setup.read = true;
  setup.packets = 40;
  setup.message = 40;
  setup.faults = {{"drop-request", PacketClass::read_request, 0}};
  const RecoveryReport r = judge(RcScene(setup));
  const Episode& e = r.flows.at(0).episodes.at(0);
  EXPECT_EQ(e.by, Trigger::timer);
  EXPECT_EQ(e.kind, "read-request");
  EXPECT_TRUE(e.end_ns);
}

TEST(Recovery, StaleIcrcIsALossThatNobodyCounts)
{
  const RecoveryReport r =
      judge(with({{"corrupt-40", PacketClass::data, 40, 1, FaultAction::corrupt}}));
  const FlowRecovery& f = r.flows.at(0);
  EXPECT_EQ(f.icrc_drops, 1U);
  ASSERT_THAT(f.losses, SizeIs(1));
  EXPECT_TRUE(f.losses[0].stale_icrc);
  EXPECT_EQ(f.losses[0].cause, "corrupt-40");
  EXPECT_EQ(f.episodes.at(0).by, Trigger::nak);
}

TEST(Recovery, ADuplicateIsNoLoss)
{
  const RecoveryReport r =
      judge(with({{"twice", PacketClass::data, 40, 1, FaultAction::duplicate}}));
  const FlowRecovery& f = r.flows.at(0);
  EXPECT_THAT(f.losses, IsEmpty());
  EXPECT_THAT(f.episodes, IsEmpty());
  EXPECT_THAT(r.problems, IsEmpty());
  EXPECT_TRUE(f.check.checked);
}

TEST(Recovery, ReorderingMakesAFalseNak)
{
  const RecoveryReport r =
      judge(with({{"hold-3", PacketClass::data, 40, 1, FaultAction::reorder}}));
  const FlowRecovery& f = r.flows.at(0);
  EXPECT_THAT(f.losses, IsEmpty());
  ASSERT_THAT(f.episodes, SizeIs(1));
  const Episode& e = f.episodes[0];
  EXPECT_EQ(e.cause, "hold-3");
  EXPECT_EQ(e.losses, 0U);
  EXPECT_EQ(e.by, Trigger::nak);
  EXPECT_EQ(e.rounds.at(0).position, 40);
  EXPECT_GT(e.packets_again, 0U);
  EXPECT_EQ(e.packets_again, e.packets_thrown_away + e.packets_already_there);
}

TEST(Recovery, ABurstIsOneEpisode)
{
  const RecoveryReport r = judge(with({{"burst", PacketClass::data, 40},
                                       {"burst", PacketClass::data, 41},
                                       {"burst", PacketClass::data, 42}}));
  const FlowRecovery& f = r.flows.at(0);
  EXPECT_THAT(f.losses, SizeIs(3));
  ASSERT_THAT(f.episodes, SizeIs(1));
  EXPECT_EQ(f.episodes[0].losses, 3U);
  EXPECT_THAT(f.episodes[0].rounds, SizeIs(1));
  EXPECT_EQ(f.episodes[0].packets_again - f.episodes[0].packets_thrown_away, 3U);
}

TEST(Recovery, PsnsWrap)
{
  RcSetup setup;
  setup.first_psn = 0xffffd8; // 40 before the end
  setup.faults = {{"drop-40", PacketClass::data, 40}, {"drop-39", PacketClass::data, 39}};
  const RecoveryReport r = judge(RcScene(setup));
  const FlowRecovery& f = r.flows.at(0);
  EXPECT_TRUE(f.from_start);
  ASSERT_THAT(f.episodes, SizeIs(1));
  EXPECT_EQ(f.episodes[0].position, 39);
  EXPECT_EQ(f.episodes[0].by, Trigger::nak);
}

TEST(Recovery, TwoQueuePairsAreKeptApart)
{
  RcSetup setup;
  setup.faults = {{"drop-40", PacketClass::data, 40}};
  RcScene scene(setup);
  setup.qp = 1;
  setup.first_psn = 5;
  setup.begin_ns = 3'000;
  setup.faults = {{"drop-last", PacketClass::data, 99}};
  scene.flows.verbs.push_back(test::RcSimulation(scene.owned, setup).run());
  scene.flows.end_ns = scene.owned.trace.packets.back().time_ns;
  const RecoveryReport r = judge(scene);
  ASSERT_THAT(r.flows, SizeIs(2));
  EXPECT_EQ(r.flows[0].episodes.at(0).by, Trigger::nak);
  EXPECT_EQ(r.flows[1].episodes.at(0).by, Trigger::timer);
  EXPECT_EQ(r.flows[1].losses.at(0).cause, "drop-last");
  ASSERT_THAT(r.time, SizeIs(1)) << "one traffic";
}

TEST(Recovery, NetemIsNamedWhereNoRuleFired)
{
  RcScene scene = with({{"", PacketClass::data, 40}, {"", PacketClass::data, 99}});
  for (wire::TracedPacket& p : scene.owned.trace.packets) p.action = FaultAction::none;
  scene.flows.netem_drops = true;
  RecoveryReport r = judge(scene);
  ASSERT_THAT(r.flows.at(0).losses, SizeIs(2));
  EXPECT_EQ(r.flows[0].losses[0].cause, "netem");
  EXPECT_EQ(r.flows[0].losses[1].position, 99);
  EXPECT_EQ(r.flows[0].losses[1].transmission, 1U);
  scene.flows.netem_drops = false;
  r = judge(scene);
  EXPECT_EQ(r.flows.at(0).losses.at(0).cause, "unknown");
}

TEST(Recovery, WithoutIdentificationTheSecondTransmissionIsTheOneThatCame)
{
  // IPv6 has none: here it is taken away.
  RcScene scene = with({{"", PacketClass::data, 40}, {"", PacketClass::data, 99}});
  for (wire::Frame& f : scene.owned.frames) {
    f[18] = f[19] = std::byte{0};
    wire::fix_icrc(f, wire::decode_packet(f)); // of those that were captured whole
  }
  for (wire::TracedPacket& p : scene.owned.trace.packets) p.action = FaultAction::none;
  const RecoveryReport r = judge(scene);
  const FlowRecovery& f = r.flows.at(0);
  ASSERT_THAT(f.losses, SizeIs(2));
  EXPECT_EQ(f.losses[0].transmission, 1U);
  EXPECT_EQ(f.losses[1].transmission, 1U);
  ASSERT_THAT(f.episodes, SizeIs(2));
  EXPECT_EQ(f.episodes[0].by, Trigger::nak);
  EXPECT_EQ(f.episodes[1].by, Trigger::timer);
}

TEST(Recovery, ATraceThatBeginsInTheMiddleSaysSo)
{
  RcScene scene = with({{"drop-40", PacketClass::data, 40}});
  auto& packets = scene.owned.trace.packets;
  packets.erase(packets.begin(), packets.begin() + 25);
  const RecoveryReport r = judge(scene);
  ASSERT_THAT(r.problems, testing::Not(IsEmpty()));
  EXPECT_THAT(r.problems[0], HasSubstr("begins in the middle"));
  EXPECT_FALSE(r.flows.at(0).from_start);
  EXPECT_FALSE(r.flows[0].check.checked);
  ASSERT_THAT(r.flows[0].losses, SizeIs(1)) << "what arrived without entering is no loss";
  EXPECT_EQ(r.flows[0].episodes.at(0).position, 40);
}

TEST(Recovery, LostRecordsAreNoLosses)
{
  RcScene scene = with({{"drop-40", PacketClass::data, 40}});
  auto& packets = scene.owned.trace.packets;
  const auto gone = std::ranges::find_if(packets, [](const wire::TracedPacket& p) {
    return p.point == wire::TracePoint::arrived && p.time_ns > 100'000;
  });
  packets.erase(gone);
  scene.owned.trace.lost = 1;
  const RecoveryReport r = judge(scene);
  ASSERT_THAT(r.problems, testing::Not(IsEmpty()));
  EXPECT_THAT(r.problems[0], HasSubstr("1 records found no room"));
  const FlowRecovery& f = r.flows.at(0);
  EXPECT_FALSE(f.check.checked);
  ASSERT_THAT(f.losses, SizeIs(2));
  EXPECT_FALSE(f.losses[0].certain);
  EXPECT_TRUE(f.losses[1].certain);
}

TEST(Recovery, WhatIsUnderWayAtTheEndIsNoLoss)
{
  RcScene scene = with({});
  auto& packets = scene.owned.trace.packets;
  packets.resize(60);
  const RecoveryReport r = judge(scene);
  EXPECT_THAT(r.flows.at(0).losses, IsEmpty());
}

TEST(Recovery, NothingInTheTrace)
{
  RcScene scene = with({});
  scene.owned.trace.packets.clear();
  const RecoveryReport r = analyse_recovery(scene.owned.trace, scene.flows);
  EXPECT_THAT(r.flows, IsEmpty());
  EXPECT_THAT(r.problems, testing::ElementsAre("no packet of roce's QP 0 is in the trace"));
}

TEST(Recovery, JsonBothWays)
{
  const RcScene scene = with({{"first", PacketClass::data, 40, 1},
                              {"second", PacketClass::data, 40, 2},
                              {"nak", PacketClass::nak, 60}});
  const RecoveryReport r = analyse_recovery(scene.owned.trace, scene.flows);
  const Json json = r;
  EXPECT_EQ(Json(json.get<RecoveryReport>()), json);
  const Json flows = scene.flows;
  EXPECT_EQ(Json(flows.get<TraceFlows>()), flows);
}

} // namespace
} // namespace rdmalab::analysis
