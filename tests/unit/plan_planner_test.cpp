#include "base/json.h"
#include "base/random.h"
#include "plan/notes.h"
#include "plan/planner.h"
#include "plan/shapers.h"
#include "plan/traffic_window.h"
#include "plan_labs.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmalab::plan {
namespace {

using lab::FaultKind;
using test::fault;
using test::three_hosts;
using test::two_hosts;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Plan planned(const lab::Lab& lab)
{
  auto plan = make_plan(lab);
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().message());
  return plan ? *plan : Plan{};
}

std::string refusal(const lab::Lab& lab)
{
  auto plan = make_plan(lab);
  if (plan) return "planned";
  EXPECT_EQ(plan.error().exit, Exit::usage);
  return plan.error().message();
}

const Shaper* shaper(const Plan& plan, const std::string& host, bool up)
{
  for (const Shaper& s : plan.fabric.shapers)
    if (s.host == host && s.up == up) return &s;
  return nullptr;
}

std::vector<std::string> ids(const Plan& plan)
{
  std::vector<std::string> out;
  for (const Cell& cell : plan.cells) out.push_back(cell.id);
  return out;
}

TEST(Planner, NamesAndAddressesComeFromTheHostsOrder)
{
  const Plan plan = planned(three_hosts());
  ASSERT_EQ(plan.fabric.hosts.size(), 3U);
  const HostNode& third = plan.fabric.hosts[2];
  EXPECT_EQ(third.netns, "rl-third");
  EXPECT_EQ(third.device, "eth0");
  EXPECT_EQ(third.port, "p2");
  EXPECT_EQ(third.rdma, "rxe2");
  EXPECT_EQ(third.mac, "02:00:00:00:00:03");
  EXPECT_EQ(third.ip, "10.0.0.3");
  EXPECT_EQ(plan.fabric.netns, "rl-fabric");
}

TEST(Planner, CellsAreInterleavedByRepeat)
{
  lab::Lab lab = two_hosts();
  lab.faults = {fault(FaultKind::loss)};
  EXPECT_THAT(ids(planned(lab)),
              ElementsAre("roce/baseline/0", "roce/faulted/0", "tcp/baseline/0", "tcp/faulted/0",
                          "roce/baseline/1", "roce/faulted/1", "tcp/baseline/1", "tcp/faulted/1"));
}

TEST(Planner, WithoutFaultsThereIsOnlyTheBaseline)
{
  EXPECT_THAT(ids(planned(two_hosts())), ElementsAre("roce/baseline/0", "tcp/baseline/0",
                                                     "roce/baseline/1", "tcp/baseline/1"));
}

TEST(Planner, ThePathIsCountedInACellOfItsOwn)
{
  lab::Lab lab = two_hosts();
  lab.measure.path = true;
  lab.measure.repeat = 1;
  lab.groups = {{"roce"}, {"roce", "tcp"}};
  EXPECT_THAT(ids(planned(lab)),
              ElementsAre("roce/baseline/0", "roce/path/0", "roce+tcp/baseline/0"))
      << "whose message it was can't be told where two run together";
  lab.faults = {fault(FaultKind::loss)};
  lab.groups = {{"tcp"}};
  EXPECT_THAT(ids(planned(lab)), ElementsAre("tcp/baseline/0", "tcp/faulted/0", "tcp/path/0"));
}

TEST(Planner, TrafficsOfAGroupShareACell)
{
  lab::Lab lab = two_hosts();
  lab.groups = {{"roce", "tcp"}};
  lab.measure.repeat = 1;
  const Plan plan = planned(lab);
  EXPECT_THAT(ids(plan), ElementsAre("roce+tcp/baseline/0"));
  EXPECT_THAT(plan.cells[0].traffic, ElementsAre("roce", "tcp"));
}

TEST(Planner, WithoutGroupsEachTrafficRunsOnItsOwn)
{
  lab::Lab lab = two_hosts();
  lab.groups.clear();
  const Plan plan = planned(lab);
  EXPECT_EQ(plan.cells.size(), 4U);
  EXPECT_EQ(plan.lab.groups.size(), 2U);
}

TEST(Planner, TrafficsOfARepeatDrawFromTheSameSeedRepeatsFromOthers)
{
  lab::Lab lab = two_hosts();
  const Plan plan = planned(lab);
  EXPECT_EQ(plan.cells[0].seed, plan.cells[1].seed);
  EXPECT_NE(plan.cells[0].seed, plan.cells[2].seed);
  EXPECT_EQ(plan.cells[0].seed, mix64(7, 0));
  EXPECT_NE(shaper_seed(plan.cells[0], 0), shaper_seed(plan.cells[0], 1));
  EXPECT_EQ(shaper_seed(plan.cells[0], 1), shaper_seed(plan.cells[1], 1));
  lab.seed = 8;
  EXPECT_NE(planned(lab).cells[0].seed, plan.cells[0].seed);
}

TEST(Planner, PlanSurvivesJson)
{
  lab::Lab lab = two_hosts();
  lab.faults = {fault(FaultKind::loss), fault(FaultKind::delay)};
  const Plan plan = planned(lab);
  const Json json = plan;
  EXPECT_EQ(Json(json.get<Plan>()).dump(), json.dump());
}

TEST(Planner, RefusesWhatNamesNobody)
{
  lab::Lab lab = two_hosts();
  lab.faults = {fault(FaultKind::loss)};
  lab.faults[0].to = "nobody";
  EXPECT_THAT(refusal(lab), HasSubstr("no host is named 'nobody'"));
  lab = two_hosts();
  lab.traffic[0].to = "nobody";
  EXPECT_THAT(refusal(lab), HasSubstr("traffic 'roce'"));
  lab = two_hosts();
  lab.groups = {{"sctp"}};
  EXPECT_THAT(refusal(lab), HasSubstr("'sctp'"));
  lab = two_hosts();
  lab.topology.hosts.resize(1);
  EXPECT_THAT(refusal(lab), HasSubstr("at least two"));
  lab = two_hosts();
  lab.topology.hosts.push_back({"fabric", {}, {}});
  EXPECT_THAT(refusal(lab), HasSubstr("fabric"));
  lab = two_hosts();
  for (int i = 0; i < 253; ++i) lab.topology.hosts.push_back({"h" + std::to_string(i), {}, {}});
  EXPECT_THAT(refusal(lab), HasSubstr("255"));
}

TEST(Shapers, EachPortHasOneAndOnlyShapedHostsHaveAnIfb)
{
  lab::Lab lab = two_hosts();
  EXPECT_EQ(planned(lab).fabric.shapers.size(), 2U);
  lab.topology.hosts[1].up = lab::LinkShape{10'000'000, 5'000, 33};
  const Plan plan = planned(lab);
  ASSERT_EQ(plan.fabric.shapers.size(), 3U);
  const Shaper* up = shaper(plan, "server", true);
  ASSERT_NE(up, nullptr);
  EXPECT_EQ(up->device, "u1");
  EXPECT_EQ(up->unfaulted.rate_bps, 10'000'000U);
  EXPECT_EQ(up->unfaulted.delay_ns, 5'000U);
  EXPECT_EQ(up->unfaulted.limit_packets, 33U);
  EXPECT_EQ(up->faulted, up->unfaulted);
  EXPECT_EQ(shaper(plan, "server", false)->device, "p1");
}

TEST(Shapers, BetweenTwoHostsAFaultSitsAtTheReceiversPort)
{
  lab::Lab lab = two_hosts();
  lab.faults = {fault(FaultKind::loss, 12'345)};
  lab.faults[0].correlation_ppm = 250'000;
  const Plan plan = planned(lab);
  const Shaper* server = shaper(plan, "server", false);
  EXPECT_EQ(server->faulted.loss_ppm, 12'345U);
  EXPECT_EQ(server->faulted.loss_correlation_ppm, 250'000U);
  EXPECT_EQ(server->faulted.rate_bps, 1'000'000'000U);
  EXPECT_EQ(server->unfaulted.loss_ppm, 0U);
  EXPECT_THAT(server->faults, ElementsAre("f-loss"));
  EXPECT_EQ(shaper(plan, "client", false)->faulted, shaper(plan, "client", false)->unfaulted);
  EXPECT_THAT(shaper(plan, "client", false)->faults, IsEmpty());
}

TEST(Shapers, AFaultOfASenderAloneSitsBehindIt)
{
  lab::Lab lab = two_hosts();
  lab.faults = {fault(FaultKind::loss)};
  lab.faults[0].to.reset();
  const Plan plan = planned(lab);
  ASSERT_NE(shaper(plan, "client", true), nullptr);
  EXPECT_EQ(shaper(plan, "client", true)->faulted.loss_ppm, 10'000U);
  EXPECT_EQ(shaper(plan, "server", false)->faulted.loss_ppm, 0U);
}

TEST(Shapers, AmongMoreHostsAFaultOfAPairSitsWhereOnlyThatPairPasses)
{
  lab::Lab lab = three_hosts();
  lab.faults = {fault(FaultKind::loss)};
  EXPECT_EQ(shaper(planned(lab), "server", false)->faulted.loss_ppm, 10'000U);

  lab.traffic[1].from = "third"; // the server now has two senders, the client one receiver
  const Plan plan = planned(lab);
  EXPECT_EQ(shaper(plan, "server", false)->faulted.loss_ppm, 0U);
  ASSERT_NE(shaper(plan, "client", true), nullptr);
  EXPECT_EQ(shaper(plan, "client", true)->faulted.loss_ppm, 10'000U);

  lab.traffic.push_back(lab.traffic[0]);
  lab.traffic.back().name = "more";
  lab.traffic.back().to = "third";
  EXPECT_THAT(refusal(lab), HasSubstr("can't tell their packets apart"));
}

TEST(Shapers, FaultsOfDifferentKindsCombine)
{
  lab::Lab lab = two_hosts();
  lab.faults = {fault(FaultKind::burst_loss),   fault(FaultKind::delay),
                fault(FaultKind::duplicate, 7), fault(FaultKind::reorder, 9),
                fault(FaultKind::corrupt, 11),  fault(FaultKind::rate)};
  lab.faults[0].p_ppm = 1'000;
  lab.faults[0].r_ppm = 200'000;
  lab.faults[0].bad_loss_ppm = 500'000;
  lab.faults[0].good_loss_ppm = 10;
  lab.faults[1].delay_ns = 1'000'000;
  lab.faults[3].delay_ns = 5'000;
  lab.faults[3].gap = 5;
  lab.faults[5].rate_bps = 5'000'000;
  const Netem netem = shaper(planned(lab), "server", false)->faulted;
  EXPECT_TRUE(netem.gilbert_elliott);
  EXPECT_EQ(netem.ge_p_ppm, 1'000U);
  EXPECT_EQ(netem.ge_r_ppm, 200'000U);
  EXPECT_EQ(netem.ge_bad_loss_ppm, 500'000U);
  EXPECT_EQ(netem.ge_good_loss_ppm, 10U);
  EXPECT_EQ(netem.delay_ns, 20'000U + 1'000'000U + 5'000U);
  EXPECT_EQ(netem.duplicate_ppm, 7U);
  EXPECT_EQ(netem.reorder_ppm, 9U);
  EXPECT_EQ(netem.reorder_gap, 5U);
  EXPECT_EQ(netem.corrupt_ppm, 11U);
  EXPECT_EQ(netem.rate_bps, 5'000'000U);
}

TEST(Shapers, RefusesFaultsThatContradictOneAnother)
{
  lab::Lab lab = two_hosts();
  lab.faults = {fault(FaultKind::loss), fault(FaultKind::loss)};
  lab.faults[1].name = "again";
  EXPECT_THAT(refusal(lab), HasSubstr("'f-loss' and 'again': both are loss on packets to server"));
  lab.faults[1].from.reset(); // the same port, in other words
  EXPECT_THAT(refusal(lab), HasSubstr("'again'"));
  lab.faults[1].from = "server";
  lab.faults[1].to = "client";
  EXPECT_EQ(refusal(lab), "planned");
  lab.faults = {fault(FaultKind::loss), fault(FaultKind::burst_loss)};
  EXPECT_THAT(refusal(lab), HasSubstr("one loss model"));
}

TEST(Shapers, RefusesWhatNetemWouldNotDo)
{
  lab::Lab lab = two_hosts();
  lab.topology.hosts[1].down = {};
  lab.faults = {fault(FaultKind::reorder)};
  EXPECT_THAT(refusal(lab), HasSubstr("no delay"));
  lab = two_hosts();
  lab.faults = {fault(FaultKind::jitter)};
  lab.faults[0].jitter_ns = 20'001;
  EXPECT_THAT(refusal(lab), HasSubstr("20.001us is more than the delay of 20us"));
  lab.faults[0].jitter_ns = 20'000;
  EXPECT_EQ(refusal(lab), "planned");
  lab.faults[0].reorder = true;
  EXPECT_THAT(refusal(lab), HasSubstr("keeps the order"));
}

TEST(Shapers, JitterKeepsOrderUnlessToldOtherwise)
{
  lab::Lab lab = two_hosts();
  lab.topology.hosts[1].down.rate_bps = 0;
  lab.faults = {fault(FaultKind::jitter)};
  lab.faults[0].jitter_ns = 10'000;
  EXPECT_TRUE(shaper(planned(lab), "server", false)->faulted.keep_order);
  lab.faults[0].reorder = true;
  EXPECT_FALSE(shaper(planned(lab), "server", false)->faulted.keep_order);
  lab.topology.hosts[1].down.delay_ns = 10'000'000'000;
  lab.faults[0].jitter_ns = 3'000'000'000;
  EXPECT_THAT(refusal(lab), HasSubstr("3s is more than netem's draw can hold"));
}

TEST(QueueLimit, HoldsTheLinkAndTheSenders)
{
  lab::Lab lab = two_hosts();
  lab.groups = {{"roce"}};
  Netem netem;
  EXPECT_EQ(queue_limit(lab, netem), 1000U + 512U);
  lab.traffic[0].verbs.qps = 4;
  EXPECT_EQ(queue_limit(lab, netem), 1000U + 4 * 512U);
  netem.rate_bps = 1'000'000'000;
  netem.delay_ns = 100'000; // 12'500 bytes: 195 smallest packets, half as many again for safety
  EXPECT_EQ(queue_limit(lab, netem), 1000U + 292U + 4 * 512U);
  netem.jitter_ns = 25'000;
  EXPECT_EQ(queue_limit(lab, netem), 1000U + 585U + 4 * 512U);
  lab.groups = {{"roce"}, {"tcp"}};
  EXPECT_EQ(queue_limit(lab, netem), 1000U + 585U + 5461U);
}

TEST(QueueLimit, IsBoundedByMemory)
{
  lab::Lab lab = two_hosts();
  lab.groups = {{"roce"}};
  Netem netem;
  netem.rate_bps = 100'000'000'000;
  netem.delay_ns = 10'000'000'000;
  EXPECT_EQ(queue_limit(lab, netem), 1000U + (64U << 20) / 2304 + 512U);
  lab.topology.mtu = 4200;
  EXPECT_EQ(queue_limit(lab, netem), 1000U + (64U << 20) / 8448 + 512U);
}

TEST(QueueLimit, CountsTheResponsePacketsOfReads)
{
  lab::Lab lab = two_hosts();
  lab.groups = {{"roce"}};
  lab.traffic[0].verbs.op = lab::VerbsOp::read;
  lab.traffic[0].message_bytes = 1 << 20;
  EXPECT_EQ(queue_limit(lab, {}), 1000U + 512U + 1024U);
}

TEST(TrafficWindow, IbMtuIsThePowerOfTwoBelow)
{
  lab::Lab lab = two_hosts();
  EXPECT_EQ(ib_mtu(lab, lab.traffic[0]), 1024U);
  lab.topology.mtu = 4175;
  EXPECT_EQ(ib_mtu(lab, lab.traffic[0]), 2048U);
  lab.topology.mtu = 4176;
  EXPECT_EQ(ib_mtu(lab, lab.traffic[0]), 4096U);
  lab.topology.mtu = 9000;
  EXPECT_EQ(ib_mtu(lab, lab.traffic[0]), 4096U);
  lab.traffic[0].verbs.path_mtu = 512;
  EXPECT_EQ(ib_mtu(lab, lab.traffic[0]), 512U);
}

TEST(TrafficWindow, ReadTakesThePathOfItsResponses)
{
  lab::Lab lab = two_hosts();
  lab.topology.hosts[0].down.rate_bps = 5;
  lab.topology.hosts[1].up = lab::LinkShape{3, 1'000, 0};
  EXPECT_EQ(path_of(lab, lab.traffic[0]).rate_bps, 1'000'000'000U);
  EXPECT_EQ(path_of(lab, lab.traffic[0]).round_trip_ns, 41'000U);
  lab.traffic[0].verbs.op = lab::VerbsOp::read;
  EXPECT_EQ(path_of(lab, lab.traffic[0]).rate_bps, 3U);
}

TEST(TrafficWindow, PayloadShareCountsEveryHeader)
{
  lab::Lab lab = two_hosts();
  lab.traffic[0].message_bytes = 1024;
  lab.traffic[0].verbs.op = lab::VerbsOp::send;
  EXPECT_EQ(payload_share_ppm(lab, lab.traffic[0]), 1024U * 1'000'000 / (1024 + 58));
  lab.traffic[0].verbs.op = lab::VerbsOp::write;
  EXPECT_EQ(payload_share_ppm(lab, lab.traffic[0]), 1024U * 1'000'000 / (1024 + 58 + 16));
  EXPECT_EQ(payload_share_ppm(lab, lab.traffic[1]), 1448U * 1'000'000 / 1514);
}

TEST(Notes, NameTheLimitThatHolds)
{
  lab::Lab lab = two_hosts();
  EXPECT_THAT(notes(planned(lab)),
              Contains(HasSubstr("roce: the link's 1gbit carry at most 946mbit")));
  EXPECT_THAT(notes(planned(lab)), Not(Contains(HasSubstr("the window, not the link"))));
  lab.topology.hosts[0].down.delay_ns = lab.topology.hosts[1].down.delay_ns = 5'000'000;
  EXPECT_THAT(notes(planned(lab)), Contains(HasSubstr("128KiB in flight over a round trip of 10ms "
                                                      "are at most 104mbit")));
  lab.topology.hosts[1].down.rate_bps = 0;
  EXPECT_THAT(notes(planned(lab)), Contains(HasSubstr("no link rate")));
}

TEST(Notes, WarnOfFewLossesAndLongTimeouts)
{
  lab::Lab lab = two_hosts();
  lab.faults = {fault(FaultKind::loss, 100)};
  lab.traffic[0].verbs.timeout = 16;
  EXPECT_THAT(notes(planned(lab)), Contains(HasSubstr("at most 8 full packets are lost")));
  EXPECT_THAT(notes(planned(lab)), Contains(HasSubstr("time-out of 268ms")));
  EXPECT_THAT(notes(planned(lab)), Contains(HasSubstr("fewer than 10")));
  lab.faults = {fault(FaultKind::loss, 100'000)};
  lab.traffic[0].verbs.timeout = 8;
  EXPECT_THAT(notes(planned(lab)), Not(Contains(HasSubstr("full packets are lost"))));
  EXPECT_THAT(notes(planned(lab)), Not(Contains(HasSubstr("fewer than 10"))));
}

} // namespace
} // namespace rdmalab::plan
