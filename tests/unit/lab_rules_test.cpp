#include "lab/parse.h"

#include <gmock/gmock.h>

namespace rdmalab::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Parsed parsed(const std::string& rules)
{
  return parse_all("version: 1\nname: x\n"
                   "topology: {hosts: [client, server], link: {rate: 250mbit, delay: 20us}}\n"
                   "traffic:\n"
                   "  - {name: roce, kind: verbs, from: client, to: server, qps: 2}\n"
                   "  - {name: tcp, kind: tcp, from: client, to: server}\n"
                   "rules:\n" +
                       rules,
                   "x.yaml");
}

TEST(LabRules, KeepWhatTheyAsk)
{
  const Parsed found = parsed(
      "  - {name: a, kind: drop, traffic: roce, stream: 1, class: [data, ack], position: [first, "
      "only], number: [7, 20..22], transmission: 2.., every: 3, begin: 1ms, end: 2ms, limit: 4, "
      "may_miss: on}\n");
  ASSERT_TRUE(found.lab) << found.diagnostics.front().message;
  ASSERT_THAT(found.lab->rules, SizeIs(1));
  const Rule& rule = found.lab->rules[0];
  EXPECT_EQ(rule.stream, 1U);
  EXPECT_THAT(rule.classes, ElementsAre("data", "ack"));
  EXPECT_THAT(rule.positions, ElementsAre("first", "only"));
  EXPECT_THAT(rule.numbers, ElementsAre(Span{7, 7}, Span{20, 22}));
  EXPECT_EQ(rule.transmission.first, 2U);
  EXPECT_EQ(rule.every, 3U);
  EXPECT_EQ(rule.begin_ns, 1'000'000U);
  EXPECT_EQ(rule.end_ns, 2'000'000U);
  EXPECT_EQ(rule.limit, 4U);
  EXPECT_TRUE(rule.may_miss);
  EXPECT_FALSE(found.lab->faultless());
}

TEST(LabRules, TakeOneWordWhereAListMayStand)
{
  const Parsed found =
      parsed("  - {name: a, kind: mark, traffic: tcp, class: data, number: 9..}\n");
  ASSERT_TRUE(found.lab) << found.diagnostics.front().message;
  EXPECT_THAT(found.lab->rules[0].classes, ElementsAre("data"));
  EXPECT_EQ(found.lab->rules[0].numbers[0].first, 9U);
}

TEST(LabRules, OfTheSameKindMayStandOneAfterTheOther)
{
  const Parsed found = parsed("  - {name: a, kind: drop, traffic: roce, class: data, number: 7}\n"
                              "  - {name: b, kind: drop, traffic: roce, class: data}\n");
  EXPECT_TRUE(found.lab) << found.diagnostics.front().message;
}

TEST(LabRules, AListHasRoomForSixteenNumbers)
{
  EXPECT_TRUE(parsed("  - {name: a, kind: drop, traffic: roce, number: [1, 3..17]}\n").lab);
  const Parsed found = parsed("  - {name: a, kind: drop, traffic: roce, number: [1, 3..18]}\n");
  ASSERT_THAT(found.diagnostics, SizeIs(1));
  EXPECT_THAT(found.diagnostics[0].message, HasSubstr("a list has room for 16"));
}

TEST(LabRules, TraceIsOffUnlessItIsNamed)
{
  const std::string rules = "  - {name: a, kind: drop, traffic: roce}\n";
  EXPECT_FALSE(parsed(rules).lab->trace.on);
  const Parsed named = parsed(rules + "trace: {snap: 256}\n");
  ASSERT_TRUE(named.lab);
  EXPECT_TRUE(named.lab->trace.on);
  EXPECT_EQ(named.lab->trace.snap_bytes, 256U);
  EXPECT_FALSE(parsed(rules + "trace: {on: off}\n").lab->trace.on);
}

TEST(LabRules, AreToldInWords)
{
  Rule made;
  made.classes = {"data"};
  EXPECT_EQ(rule_words(made), "data");
  made.numbers = {{1000, 1000}};
  made.transmission = {1, 1};
  EXPECT_EQ(rule_words(made), "data 1000, sent the 1st time");
  made.transmission = {1, 2};
  made.numbers = {{7, 9}, {20, 20}};
  EXPECT_EQ(rule_words(made), "data 7..9, 20, transmissions 1..2");
  Rule other;
  other.opcode = "RC_ACKNOWLEDGE";
  other.every = 23;
  other.rate_ppm = 500;
  other.limit = 3;
  EXPECT_EQ(rule_words(other), "RC_ACKNOWLEDGE, every 23rd, 0.05%, 3 at most");
}

} // namespace
} // namespace rdmalab::lab
