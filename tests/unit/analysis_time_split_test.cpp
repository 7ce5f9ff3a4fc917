/// Where the window went, to the nanosecond.
#include "analysis/recovery.h"
#include "recovery_fixture.h"

#include <array>

#include <gtest/gtest.h>

namespace rdmalab::analysis {
namespace {

using test::RcScene;
using test::RcSetup;
using wire::PacketClass;

/// One message without ACKs in between; a packet of 1082 bytes takes 8 us.
RcSetup steady(std::int64_t packets)
{
  RcSetup setup;
  setup.packets = packets;
  setup.message = 1'000;
  setup.faults = {{"drop-40", PacketClass::data, 40}};
  return setup;
}
TrafficTime split(RcScene& scene, std::uint64_t link_bps, std::uint64_t end_ns)
{
  scene.flows.link_bps = link_bps;
  scene.flows.end_ns = end_ns;
  return analyse_recovery(scene.owned.trace, scene.flows).time.at(0);
}
constexpr std::uint64_t link_bps = 1'082'000'000;

TEST(TimeSplit, WaitingForTheNak)
{
  RcScene scene(steady(42));
  const TrafficTime t = split(scene, link_bps, 400'000);
  // The first packet has a RETH, 16 bytes, and takes 118 ns more, which all behind it wait.
  EXPECT_EQ(t.link.ns, 42U * 8'000 + 118);
  // 41 is off the wire at 336.118 us; the NAK of the loss at 320 us makes 40 enter 34 us later.
  EXPECT_EQ(t.nak_wait.ns, 354'000U - 336'118);
  EXPECT_EQ(t.replay.ns, 16'000U);
  EXPECT_EQ(t.timer_wait.ns, 0U);
  EXPECT_EQ(t.other.ns, 30'000U);
}

TEST(TimeSplit, WaitingForTheTimer)
{
  RcScene scene(steady(41));
  const TrafficTime t = split(scene, link_bps, 2'400'000);
  EXPECT_EQ(t.link.ns, 41U * 8'000 + 118);
  EXPECT_EQ(t.nak_wait.ns, 0U);
  EXPECT_EQ(t.timer_wait.ns, 2'320'000U - 328'118);
  EXPECT_EQ(t.replay.ns, 80'000U) << "nothing was acknowledged, so all goes out again";
  EXPECT_EQ(t.other.ns, 0U);
  EXPECT_EQ(t.link.ppm + t.timer_wait.ppm + t.replay.ppm + t.other.ppm, 1'000'000U);
}

TEST(TimeSplit, ALinkWithoutARateIsMeasuredByGaps)
{
  RcScene scene(steady(42));
  const TrafficTime t = split(scene, 0, 400'000);
  EXPECT_EQ(t.link.ns, 41U * 8'000) << "the first packet has none before it";
  EXPECT_EQ(t.replay.ns, 26'000U + 8'000) << "a pause shorter than 8 gaps is the packet's own";
  EXPECT_EQ(t.nak_wait.ns, 0U);
}

TEST(TimeSplit, TheWindowCutsSpans)
{
  const std::array<StateSpan, 3> spans{StateSpan{0, 50, WireState::link},
                                       StateSpan{40, 200, WireState::timer_wait},
                                       StateSpan{60, 70, WireState::replay}};
  const TrafficTime t = split_window("x", spans, 10, 103);
  EXPECT_EQ(t.window_ns, 93U);
  EXPECT_EQ(t.link.ns, 40U);
  EXPECT_EQ(t.replay.ns, 10U);
  EXPECT_EQ(t.timer_wait.ns, 43U);
  EXPECT_EQ(t.other.ns, 0U);
  EXPECT_EQ(t.link.ppm + t.replay.ppm + t.timer_wait.ppm, 1'000'000U);
}

TEST(TimeSplit, ThirdsAddUpToAMillion)
{
  const std::array<StateSpan, 2> spans{StateSpan{0, 1, WireState::link},
                                       StateSpan{1, 2, WireState::replay}};
  const TrafficTime t = split_window("x", spans, 0, 3);
  EXPECT_EQ(t.link.ppm, 333'334U);
  EXPECT_EQ(t.replay.ppm, 333'333U);
  EXPECT_EQ(t.other.ppm, 333'333U);
}

TEST(TimeSplit, AnEmptyWindow)
{
  const TrafficTime t = split_window("x", {}, 5, 5);
  EXPECT_EQ(t.window_ns, 0U);
  EXPECT_EQ(t.other, TimeShare{});
}

} // namespace
} // namespace rdmalab::analysis
