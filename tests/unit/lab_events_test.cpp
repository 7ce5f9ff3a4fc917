#include "lab/parse.h"

#include <gmock/gmock.h>

namespace rdmalab::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Parsed parsed(const std::string& events, const std::string& more = {})
{
  return parse_all("version: 1\nname: x\n"
                   "topology: {hosts: [client, server], link: {rate: 250mbit, delay: 20us}}\n"
                   "traffic:\n"
                   "  - {name: roce, kind: verbs, from: client, to: server, qps: 2}\n"
                   "measure: {warmup: 0ms}\n" +
                       more + "events:\n" + events,
                   "x.yaml");
}

void expect_refused(const std::string& events, const std::string& message,
                    const std::string& more = {})
{
  const Parsed found = parsed(events, more);
  ASSERT_THAT(found.diagnostics, SizeIs(1)) << message;
  EXPECT_THAT(found.diagnostics[0].message, HasSubstr(message));
}

TEST(LabEvents, KeepWhatTheyAsk)
{
  const Parsed found = parsed(
      "  - {packet: data, stream: 1, number: 3..5, transmission: 2, from: client, within: 1ms}\n"
      "  - {never: nak, syndrome: sequence-error}\n"
      "  - {counter: rcvd_seq_err, host: client, count: 0}\n");
  ASSERT_TRUE(found.lab) << found.diagnostics.front().message;
  ASSERT_THAT(found.lab->events, SizeIs(3));
  const Event& first = found.lab->events[0];
  EXPECT_EQ(first.kind, EventKind::packet);
  EXPECT_EQ(first.traffic, "roce");
  EXPECT_EQ(first.stream, 1U);
  EXPECT_EQ(first.number, (Span{3, 5}));
  EXPECT_EQ(first.transmission, 2U);
  EXPECT_EQ(first.within_ns, 1'000'000U);
  EXPECT_EQ(first.line, 8);
  EXPECT_EQ(found.lab->events[1].text, "never: nak, syndrome: sequence-error");
  EXPECT_EQ(found.lab->events[2].count, 0U);
  EXPECT_TRUE(found.lab->trace.on) << "events are looked for in a trace";
  EXPECT_TRUE(found.lab->faultless());
}

TEST(LabEvents, WhatIsDoneToAPacketBecomesARule)
{
  const Parsed found =
      parsed("  - {packet: data, number: 3, do: drop}\n  - {packet: nak, do: mark}\n");
  ASSERT_TRUE(found.lab) << found.diagnostics.front().message;
  ASSERT_THAT(found.lab->rules, SizeIs(2));
  const Rule& rule = found.lab->rules[0];
  EXPECT_EQ(rule.name, "event-1");
  EXPECT_EQ(rule.kind, RuleKind::drop);
  EXPECT_THAT(rule.classes, ElementsAre("data"));
  EXPECT_THAT(rule.numbers, ElementsAre(Span{3, 3}));
  EXPECT_EQ(rule.transmission, (Span{1, 1}));
  EXPECT_EQ(rule.limit, 1U);
  EXPECT_EQ(found.lab->events[0].rule, "event-1");
  EXPECT_EQ(found.lab->rules[1].kind, RuleKind::mark);
  EXPECT_FALSE(found.lab->faultless());
}

TEST(LabEvents, AreRefusedWhereTheyCanNotBeMet)
{
  expect_refused("  - {packet: read-request}\n", "sends no packets of class read-request");
  expect_refused("  - {packet: nack}\n", "nack");
  expect_refused("  - {number: 3}\n", "has one of packet, never");
  expect_refused("  - {packet: nak, never: ack}\n", "one thing: this one is packet and never");
  expect_refused("  - {packet: data, syndrome: sequence-error}\n", "only a nak has a syndrome");
  expect_refused("  - {packet: data, stream: 2}\n", "has 2 queue pairs");
  expect_refused("  - {packet: data, from: fabric}\n", "is no end of");
  expect_refused("  - {packet: data, rule: gap}\n", "there is no rule \"gap\"");
  expect_refused("  - {packet: data, number: 3..}\n", "at most 65536 packets");
  expect_refused("  - {packet: data, after: 2ms, within: 1ms}\n", "later than this allows");
  expect_refused("  - {never: nak, do: drop}\n", "do says nothing of a never");
  expect_refused("  - {state: RTS}\n", "at which host");
  expect_refused("  - {state: RTS, host: client}\n  - {packet: data}\n", "packets come before");
  expect_refused("  - {packet: data, traffic: rock}\n", "rock");
}

TEST(LabEvents, NeedTheTrace)
{
  expect_refused("  - {packet: data}\n", "which is off", "trace: {on: off}\n");
}

TEST(LabEvents, CountersNeedAWindowFromTheStart)
{
  const Parsed found = parse_all(
      "version: 1\nname: x\ntopology: {hosts: [a, b], link: {rate: 250mbit, delay: 20us}}\n"
      "traffic: [{name: roce, kind: verbs, from: a, to: b}]\n"
      "events: [{counter: rcvd_seq_err, host: a}]\n",
      "x.yaml");
  ASSERT_THAT(found.diagnostics, SizeIs(1));
  EXPECT_THAT(found.diagnostics[0].message, HasSubstr("counters count from the window's begin"));
}

} // namespace
} // namespace rdmalab::lab
