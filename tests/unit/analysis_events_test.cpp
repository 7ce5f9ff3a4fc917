/// Events of a lab against traces of a tiny requester and responder.
#include "analysis/events.h"
#include "lab/parse.h"
#include "recovery_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmalab::analysis {
namespace {

using test::FaultRule;
using test::RcScene;
using test::RcSetup;
using ::testing::HasSubstr;
using ::testing::SizeIs;

lab::Lab lab_of(const std::string& events)
{
  const auto parsed =
      lab::parse("version: 1\nname: x\n"
                 "topology: {hosts: [client, server], link: {rate: 250mbit, delay: 20us}}\n"
                 "traffic: [{name: roce, kind: verbs, from: client, to: server}]\n"
                 "rules: [{name: gap, kind: drop, traffic: roce, class: data, number: 5}]\n"
                 "measure: {warmup: 0ms}\nevents:\n" +
                     events,
                 "x.yaml");
  EXPECT_TRUE(parsed.ok()) << parsed.error().message();
  return *parsed;
}

/// Ten packets; number 5 is lost the first time, to rule gap.
RcScene one_loss()
{
  RcSetup setup;
  setup.packets = 10;
  setup.message = 10;
  setup.faults = {FaultRule{"gap", wire::PacketClass::data, 5, 1, wire::FaultAction::drop}};
  return RcScene(setup);
}

record::Cell cell_of()
{
  record::Cell cell;
  cell.id = "roce/faulted/0";
  cell.traffic = {"roce"};
  record::Flow flow;
  flow.traffic = "roce";
  flow.completions = {{"IBV_WC_SUCCESS", 1}};
  flow.qp_states = {{"client 0", "RTS"}, {"server 0", "RTS"}};
  cell.flows = {flow};
  cell.counters = {{"client", {{"rcvd_seq_err", 1}}, {}}};
  return cell;
}

ScriptResult follow(const std::string& events)
{
  const lab::Lab lab = lab_of(events);
  const RcScene scene = one_loss();
  const auto script = follow_events(lab, cell_of(), scene.owned.trace, scene.flows,
                                    sort_trace(scene.owned.trace, scene.flows));
  EXPECT_TRUE(script);
  return script.value_or(ScriptResult{});
}

/// The script breaks at an event, of which this is said.
void expect_broken(const std::string& events, const std::string& seen)
{
  const ScriptResult script = follow(events);
  const EventResult* broken = script.broken();
  ASSERT_NE(broken, nullptr);
  EXPECT_THAT(broken->seen, HasSubstr(seen));
}

TEST(Events, FollowARecovery)
{
  const ScriptResult script =
      follow("  - {packet: data, number: 0..4}\n"
             "  - {packet: data, number: 5, rule: gap}\n"
             "  - {packet: data, number: 6..7, from: client, transmission: 1}\n"
             "  - {packet: nak, number: 5, syndrome: sequence-error, from: server}\n"
             "  - {never: nak}\n"
             "  - {packet: data, number: 5..8, transmission: 2}\n"
             "  - {packet: data, number: 9}\n"
             "  - {packet: ack, number: 9, within: 1ms}\n"
             "  - {completion: IBV_WC_SUCCESS, count: 1}\n"
             "  - {state: RTS, host: client}\n"
             "  - {counter: rcvd_seq_err, host: client, count: 1}\n");
  ASSERT_THAT(script.events, SizeIs(11));
  for (const EventResult& e : script.events) EXPECT_TRUE(e.met) << e.text << ": " << e.seen;
  EXPECT_EQ(script.events[1].packet, 10U); // four of 0 … 4 have arrived by then
  EXPECT_EQ(script.events[1].time_ns, 40'000U);
  EXPECT_THAT(script.events[1].seen, HasSubstr("WRITE middle 5 from client, hit by gap"));
  EXPECT_THAT(script.events[3].seen, HasSubstr("NAK 5 from server, NAK PSN sequence error"));
}

TEST(Events, SayWhatCameInstead)
{
  expect_broken("  - {packet: nak, number: 4}\n", "no packet fits; then came WRITE first 0");
  expect_broken("  - {packet: data, number: 7..12}\n", "no packet 10 fits after packet");
  expect_broken("  - {packet: ack, number: 9}\n  - {packet: ack}\n", "which was the last");
}

TEST(Events, OrderCounts)
{
  expect_broken("  - {packet: nak}\n  - {packet: data, number: 2}\n", "no packet fits after");
}

TEST(Events, NeverReachesFromOneNeighbourToTheOther)
{
  expect_broken("  - {packet: data, number: 4}\n  - {never: nak}\n"
                "  - {packet: data, number: 5, transmission: 2}\n",
                "there was one: NAK 5");
  EXPECT_EQ(follow("  - {packet: nak}\n  - {never: nak}\n").broken(), nullptr);
  expect_broken("  - {never: data, number: 9..20}\n", "there was one: WRITE last 9");
}

TEST(Events, TimesCountWhereAskedFor)
{
  expect_broken("  - {packet: data, number: 0}\n  - {packet: data, number: 1, after: 9us}\n",
                "too early, 8 us after");
  expect_broken("  - {packet: data, number: 0}\n  - {packet: data, number: 1, within: 7us}\n",
                "too late, 8 us after");
}

TEST(Events, NothingBehindABrokenOneIsJudged)
{
  const ScriptResult script = follow("  - {packet: nak, number: 1}\n  - {packet: data}\n"
                                     "  - {state: ERR, host: server}\n");
  EXPECT_FALSE(script.events[1].met);
  EXPECT_EQ(script.events[1].seen, "");
  EXPECT_EQ(script.events[2].seen, "RTS") << "the end is judged all the same";
}

TEST(Events, TheEndIsCounted)
{
  expect_broken("  - {completion: IBV_WC_SUCCESS, count: 2}\n", "1, 1 of IBV_WC_SUCCESS");
  expect_broken("  - {completion: IBV_WC_RETRY_EXC_ERR}\n", "0");
  expect_broken("  - {counter: rcvd_seq_err, host: client, count: 0}\n", "1");
  expect_broken("  - {counter: send_err, host: client}\n", "no such counter");
}

TEST(Events, AreNothingToACellOfAnotherTraffic)
{
  record::Cell cell = cell_of();
  cell.traffic = {"tcp"};
  const RcScene scene = one_loss();
  EXPECT_FALSE(follow_events(lab_of("  - {packet: data}\n"), cell, scene.owned.trace, scene.flows,
                             sort_trace(scene.owned.trace, scene.flows)));
}

} // namespace
} // namespace rdmalab::analysis
