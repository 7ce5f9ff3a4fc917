/// Random losses of every kind: what has to hold whatever happens.
#include "analysis/recovery.h"
#include "analysis/recovery_summary.h"
#include "analysis/sequence.h"
#include "base/json.h"
#include "recovery_fixture.h"

#include <random>

#include <gtest/gtest.h>

namespace rdmalab::analysis {
namespace {

using test::FaultRule;
using test::RcScene;
using test::RcSetup;
using wire::FaultAction;
using wire::PacketClass;

RcSetup random_setup(std::uint32_t seed)
{
  // NOLINTNEXTLINE(cert-msc51-cpp): the same numbers in every run
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  RcSetup setup;
  setup.packets = 300;
  setup.read = below(3) == 0;
  setup.message = 1 + below(40);
  // A window without an ACK request in it would never open again.
  setup.window = setup.message + below(128);
  setup.first_psn = random() & wire::psn_mask;
  const std::uint32_t one_in = 20 + below(200);
  const auto hit = [&](PacketClass kind, std::int64_t psn, std::uint32_t transmission) {
    if (below(one_in) != 0) return;
    constexpr FaultAction actions[] = {FaultAction::drop, FaultAction::drop, FaultAction::corrupt,
                                       FaultAction::duplicate, FaultAction::reorder};
    setup.faults.push_back({"rule", kind, psn, transmission, actions[below(5)]});
  };
  for (std::int64_t psn = 0; psn < setup.packets; ++psn)
    for (const std::uint32_t transmission : {1U, 2U, 3U})
      for (const PacketClass kind : {PacketClass::data, PacketClass::ack, PacketClass::nak,
                                     PacketClass::read_request, PacketClass::read_response})
        hit(kind, psn, transmission);
  return setup;
}

void balance(std::uint32_t seed)
{
  SCOPED_TRACE(seed);
  const RcScene scene(random_setup(seed));
  const wire::Trace& trace = scene.owned.trace;
  const RecoveryReport r = analyse_recovery(trace, scene.flows);
  ASSERT_EQ(r.flows.size(), 1U);
  const FlowRecovery& f = r.flows[0];
  EXPECT_TRUE(r.problems.empty()) << r.problems.front();
  ASSERT_TRUE(f.check.checked);
  if (f.check.violation) {
    ADD_FAILURE() << f.check.violation->rule << ": " << f.check.violation->detail << ", packet "
                  << f.check.violation->packets.back();
  }

  std::uint64_t again = 0;
  std::uint64_t needed = 0;
  for (const Episode& e : f.episodes) {
    EXPECT_TRUE(e.end_ns) << "the simulation ends when all is acknowledged";
    EXPECT_LE(e.packets_thrown_away + e.packets_already_there, e.packets_again);
    again += e.packets_again;
    needed += e.losses;
  }
  EXPECT_EQ(again, f.packets_again);
  std::uint64_t drops = 0;
  for (const wire::TracedPacket& p : trace.packets)
    if (p.action == FaultAction::drop || p.action == FaultAction::corrupt) ++drops;
  EXPECT_EQ(f.losses.size(), drops);
  std::uint64_t assigned = 0;
  for (const Loss& l : f.losses)
    if (l.episode && l.kind != "nak") ++assigned;
  EXPECT_EQ(assigned, needed);

  const TrafficTime& t = r.time.at(0);
  EXPECT_EQ(t.link.ns + t.replay.ns + t.nak_wait.ns + t.timer_wait.ns + t.other.ns, t.window_ns);
  EXPECT_EQ(t.link.ppm + t.replay.ppm + t.nak_wait.ppm + t.timer_wait.ppm + t.other.ppm,
            1'000'000U);
  const RecoverySummary sum = summarise(r).at(0);
  const Json json = sum;
  EXPECT_EQ(Json(json.get<RecoverySummary>()), json);
  for (std::size_t e = 0; e < std::min<std::size_t>(f.episodes.size(), 3); ++e)
    EXPECT_TRUE(episode_sequence(trace, scene.flows, r, 0, e));
}

TEST(RandomLoss, BooksBalance)
{
  for (std::uint32_t seed = 1; seed <= 60; ++seed) balance(seed);
}

void read_part(std::uint32_t seed)
{
  SCOPED_TRACE(seed);
  RcScene scene(random_setup(seed));
  auto& packets = scene.owned.trace.packets;
  // NOLINTNEXTLINE(cert-msc51-cpp): the same numbers in every run
  std::mt19937 random(seed);
  std::erase_if(packets, [&](const wire::TracedPacket&) { return random() % 10 == 0; });
  scene.owned.trace.lost = 1;
  for (wire::Frame& f : scene.owned.frames)
    if (random() % 20 == 0) f.at(random() % f.size()) ^= std::byte{0x40};
  const RecoveryReport r = analyse_recovery(scene.owned.trace, scene.flows);
  for (const TrafficTime& t : r.time)
    EXPECT_EQ(t.link.ns + t.replay.ns + t.nak_wait.ns + t.timer_wait.ns + t.other.ns, t.window_ns);
  if (!r.flows.empty() && !r.flows[0].episodes.empty()) {
    EXPECT_TRUE(episode_sequence(scene.owned.trace, scene.flows, r, 0, 0));
  }
}

TEST(RandomLoss, AnyPartOfATraceCanBeRead)
{
  for (std::uint32_t seed = 1; seed <= 60; ++seed) read_part(seed);
}

} // namespace
} // namespace rdmalab::analysis
