/// Where episodes end, recovery in figures, and excerpts of a report.
#include "analysis/recovery_summary.h"
#include "recovery_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmalab::analysis {
namespace {

using test::RcScene;
using test::RcSetup;
using ::testing::SizeIs;
using wire::FaultAction;
using wire::PacketClass;

TEST(Episodes, ALossBehindTheGoalIsTheNextOne)
{
  RcSetup setup;
  setup.faults = {{"first", PacketClass::data, 40}, {"behind", PacketClass::data, 45}};
  const RcScene scene(setup);
  const RecoveryReport r = analyse_recovery(scene.owned.trace, scene.flows);
  // 40 … 43 are sent before the requester goes back, 45 for the first time in the replay's wake.
  ASSERT_THAT(r.flows.at(0).episodes, SizeIs(2));
  EXPECT_EQ(r.flows[0].losses.at(1).episode, 1U);
  for (const Episode& e : r.flows[0].episodes) {
    EXPECT_EQ(e.by, Trigger::nak);
    EXPECT_EQ(e.losses, 1U);
    EXPECT_THAT(e.rounds, SizeIs(1));
  }
}

TEST(Episodes, GoingBackOnceMoreTakesInWhatWasLostMeanwhile)
{
  RcSetup setup;
  setup.faults = {{"first", PacketClass::data, 40, 1},
                  {"again", PacketClass::data, 40, 2},
                  {"behind", PacketClass::data, 60}};
  const RcScene scene(setup);
  const RecoveryReport r = analyse_recovery(scene.owned.trace, scene.flows);
  ASSERT_THAT(r.flows.at(0).episodes, SizeIs(1));
  EXPECT_EQ(r.flows[0].episodes[0].losses, 3U);
  EXPECT_EQ(r.flows[0].episodes[0].by, Trigger::timer);
  EXPECT_TRUE(r.flows[0].episodes[0].end_ns);
}

TEST(RecoverySummary, ExcerptSaysWhatItLeavesOut)
{
  RcSetup setup;
  setup.faults = {
      {"a", PacketClass::data, 10}, {"b", PacketClass::data, 50}, {"c", PacketClass::data, 90}};
  const RcScene scene(setup);
  const RecoveryReport r = excerpt(analyse_recovery(scene.owned.trace, scene.flows), 2);
  EXPECT_THAT(r.flows.at(0).losses, SizeIs(2));
  EXPECT_EQ(r.flows[0].losses_left_out, 1U);
  EXPECT_THAT(r.flows[0].episodes, SizeIs(2));
  EXPECT_EQ(r.flows[0].episodes_left_out, 1U);
  EXPECT_EQ(r.flows[0].figures.lost, 3U);
  EXPECT_EQ(r.traffic.at(0).by_signal, 3U);
}

TEST(RecoverySummary, SummaryAddsUpAllFlowsOfATraffic)
{
  RcSetup setup;
  setup.faults = {{"drop-40", PacketClass::data, 40}};
  RcScene scene(setup);
  setup.qp = 1;
  setup.faults = {{"drop-last", PacketClass::data, 99},
                  {"stale", PacketClass::data, 20, 1, FaultAction::corrupt}};
  scene.flows.verbs.push_back(test::RcSimulation(scene.owned, setup).run());
  const auto sums = analyse_recovery(scene.owned.trace, scene.flows).traffic;
  ASSERT_THAT(sums, SizeIs(1));
  const RecoverySummary& s = sums[0];
  EXPECT_EQ(s.flows, 2U);
  EXPECT_EQ(s.lost, 3U);
  EXPECT_EQ(s.icrc_drops, 1U);
  EXPECT_EQ(s.naks, 2U);
  EXPECT_EQ(s.by_signal, 2U);
  EXPECT_EQ(s.by_timer, 1U);
  EXPECT_EQ(s.timer_rounds, 1U);
  EXPECT_EQ(s.unfinished, 0U);
  EXPECT_EQ(s.packets, 200U);
  EXPECT_EQ(s.nak_generation_ns, 3'000U);
  EXPECT_GT(s.recover_timer_ns, s.recover_signal_ns);
  EXPECT_EQ(s.longest_ns, s.recover_timer_ns);
}

} // namespace
} // namespace rdmalab::analysis
