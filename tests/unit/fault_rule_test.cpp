/// Rules: what the compiler makes of them, what it refuses, and at which ports they are looked at.
#include "fault.h"
#include "fault/placement.h"
#include "fault/rule.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmalab::fault {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using wire::FaultAction;
using wire::PacketClass;
using wire::Position;

Rule dropping(const std::string& name = "r")
{
  Rule rule;
  rule.name = name;
  rule.action = FaultAction::drop;
  return rule;
}

fault_rule compiled(const Rule& rule)
{
  const auto result = compile(rule, 1);
  EXPECT_TRUE(result) << result.error().message();
  return result ? *result : fault_rule{};
}

TEST(FaultRule, ARuleThatAsksForNothingMatchesAll)
{
  const fault_rule rule = compiled(dropping());
  EXPECT_EQ(rule.kinds, (1U << (FAULT_OTHER + 1U)) - 1);
  EXPECT_EQ(rule.flow, FAULT_NO_FLOW);
  EXPECT_EQ(rule.opcode, FAULT_NO_OPCODE);
  EXPECT_EQ(rule.from, FAULT_ANY);
  EXPECT_EQ(rule.to, FAULT_ANY);
  EXPECT_EQ(rule.conditions, 0);
  EXPECT_EQ(rule.limit, UINT64_MAX);
  EXPECT_EQ(rule.action, FAULT_DROP);
}

TEST(FaultRule, KindsFollowFromWhatIsAsked)
{
  Rule rule = dropping();
  rule.classes = {PacketClass::nak, PacketClass::rnr};
  EXPECT_EQ(compiled(rule).kinds, 1U << FAULT_NAK | 1U << FAULT_RNR);
  rule = dropping();
  rule.transport = Transport::tcp;
  EXPECT_EQ(compiled(rule).kinds,
            1U << FAULT_TCP_SYN | 1U << FAULT_TCP_DATA | 1U << FAULT_TCP_ACK | 1U << FAULT_TCP_FIN);
  rule.tcp_kinds = tcp_kind_syn | tcp_kind_ack;
  EXPECT_EQ(compiled(rule).kinds, 1U << FAULT_TCP_SYN | 1U << FAULT_TCP_ACK);
  rule = dropping();
  rule.opcode = 0x0d;
  EXPECT_EQ(compiled(rule).kinds, 1U << FAULT_READ_RESPONSE);
  rule.opcode = 0x11;
  rule.classes = {PacketClass::ack};
  EXPECT_EQ(compiled(rule).kinds, 1U << FAULT_ACK);
  rule = dropping();
  rule.positions = {Position::first, Position::only};
  EXPECT_EQ(compiled(rule).positions, 1U << 1U | 1U << 4U);
}

TEST(FaultRule, NumbersAndDice)
{
  Rule rule = dropping();
  rule.sequence = Range{5, 0xffffff};
  rule.transmission = Range{2, 2};
  rule.window = Window{10, 20};
  rule.every = 7;
  rule.probability_ppm = 250'000;
  const fault_rule made = compiled(rule);
  EXPECT_EQ(made.conditions, FAULT_IF_RANGE | FAULT_IF_TRANSMISSION | FAULT_IF_WINDOW |
                                 FAULT_IF_EVERY | FAULT_IF_CHANCE);
  EXPECT_EQ(made.range_from, 5U);
  EXPECT_EQ(made.range_to, 0xffffffU);
  EXPECT_EQ(made.every_offset, 6U);
  EXPECT_EQ(made.chance, 1ULL << 30U);
}

TEST(FaultRule, CertaintyIsCertain)
{
  EXPECT_EQ(chance_of_ppm(1'000'000), 1ULL << 32U);
  EXPECT_EQ(chance_of_ppm(1), 4295U);
}

TEST(FaultRule, SeedsDifferByLabRuleAndGroup)
{
  Rule one = dropping();
  one.probability_ppm = 1000;
  Rule other = one;
  other.seed = 1;
  EXPECT_NE(compiled(one).seed, compiled(other).seed);
  EXPECT_NE(compiled(one).seed, compile(one, 2)->seed);
  one.classes = other.classes = {PacketClass::data};
  one.seed_group = other.seed_group = "same";
  EXPECT_EQ(compiled(one).seed, compiled(other).seed);
  other.seed_group = "another";
  EXPECT_NE(compiled(one).seed, compiled(other).seed);
}

struct Refusal {
  std::string says;
  std::function<void(Rule&)> spoil;
};

TEST(FaultRule, RefusesWhatCannotBe)
{
  const std::vector<Refusal> refusals{
      {"RoCE and TCP", [](Rule& r) { r.classes = {PacketClass::ack}, r.tcp_kinds = tcp_kind_syn; }},
      {"RoCE and TCP", [](Rule& r) { r.opcode = 4, r.transport = Transport::tcp; }},
      {"RoCE and TCP", [](Rule& r) { r.transport = Transport::roce, r.tcp_kinds = tcp_kind_data; }},
      {"opcode 0xff is unknown", [](Rule& r) { r.opcode = 0xff; }},
      {"RC_SEND_ONLY is none", [](Rule& r) { r.opcode = 4, r.classes = {PacketClass::ack}; }},
      {"RC_SEND_ONLY has none", [](Rule& r) { r.opcode = 4, r.positions = {Position::first}; }},
      {"no position",
       [](Rule& r) { r.classes = {PacketClass::ack}, r.positions = {Position::last}; }},
      {"the range 9 to 8 is empty",
       [](Rule& r) {
         r.sequence = Range{9, 8};
       }},
      {"no relative PSN reaches 16777216",
       [](Rule& r) {
         r.transport = Transport::roce, r.sequence = Range{0x1000000, 0x1000000};
       }},
      {"no relative PSN reaches 16777217",
       [](Rule& r) {
         r.transport = Transport::roce, r.sequences = {1, 0x1000001};
       }},
      {"a range and a list",
       [](Rule& r) {
         r.sequence = Range{0, 1}, r.sequences = {4};
       }},
      {"17 sequence numbers", [](Rule& r) { r.sequences.assign(17, 1); }},
      {"transmissions 0 to 1",
       [](Rule& r) {
         r.transmission = Range{0, 1};
       }},
      {"transmissions 3 to 2",
       [](Rule& r) {
         r.transmission = Range{3, 2};
       }},
      {"time window is empty",
       [](Rule& r) {
         r.window = Window{5, 5};
       }},
      {"offset 3 is not below", [](Rule& r) { r.every = 3, r.every_offset = 3; }},
      {"0 ppm", [](Rule& r) { r.probability_ppm = 0; }},
      {"1000001 ppm", [](Rule& r) { r.probability_ppm = 1'000'001; }},
      {"probability and a burst",
       [](Rule& r) {
         r.probability_ppm = 1, r.burst = Burst{1, 1};
       }},
      {"needs a probability", [](Rule& r) { r.seed_group = "g"; }},
      {"shared for data packets only",
       [](Rule& r) { r.seed_group = "g", r.probability_ppm = 1, r.classes = {PacketClass::ack}; }},
      {"a burst of 0",
       [](Rule& r) {
         r.burst = Burst{0, 5};
       }},
      {"limit of 0", [](Rule& r) { r.limit = 0; }},
      {"flow 256", [](Rule& r) { r.flow = 256; }},
      {"host 32", [](Rule& r) { r.to = 32; }},
      {"to itself", [](Rule& r) { r.from = 1, r.to = 1; }},
      {"does nothing", [](Rule& r) { r.action = FaultAction::none; }},
      {"time to hold", [](Rule& r) { r.action = FaultAction::delay; }},
      {"time to hold", [](Rule& r) { r.delay_ns = 5; }},
      {"too long a delay",
       [](Rule& r) { r.action = FaultAction::delay, r.delay_ns = max_delay_ns + 1; }},
      {"how many packets pass", [](Rule& r) { r.action = FaultAction::reorder; }},
      {"bytes to XOR", [](Rule& r) { r.action = FaultAction::corrupt; }},
      {"2 bytes to XOR",
       [](Rule& r) {
         r.action = FaultAction::corrupt, r.pattern = {0, 0};
       }},
      {"9 bytes to XOR", [](Rule& r) { r.action = FaultAction::forge, r.pattern.assign(9, 1); }},
      {"no payload",
       [](Rule& r) {
         r.action = FaultAction::forge;
         r.pattern = {1};
         r.classes = {PacketClass::nak};
       }},
      {"DSCP or TTL", [](Rule& r) { r.action = FaultAction::rewrite; }},
      {"DSCP or TTL", [](Rule& r) { r.ttl = 3; }},
      {"DSCP 64", [](Rule& r) { r.action = FaultAction::rewrite, r.dscp = 64; }},
      {"TTL of 0", [](Rule& r) { r.action = FaultAction::rewrite, r.ttl = 0; }},
  };
  for (const Refusal& refusal : refusals) {
    Rule rule = dropping("spoilt");
    refusal.spoil(rule);
    const auto result = compile(rule, 1);
    ASSERT_FALSE(result) << refusal.says;
    EXPECT_EQ(result.error().exit, Exit::usage);
    EXPECT_THAT(result.error().message(), HasSubstr("fault rule spoilt: ")) << refusal.says;
    EXPECT_THAT(result.error().message(), HasSubstr(refusal.says));
  }
}

TEST(FaultRule, RefusesRulesThatContradictEachOther)
{
  std::vector<Rule> rules{dropping("a"), dropping("a")};
  EXPECT_THAT(compile_all(rules, 1).error().message(), HasSubstr("two of that name"));
  rules[1].name = "b";
  EXPECT_THAT(compile_all(rules, 1).error().message(), HasSubstr("a before it takes all"));
  rules[0].limit = 3;
  EXPECT_TRUE(compile_all(rules, 1));
  rules[0].limit = {};
  rules[0].sequences = {1, 2};
  EXPECT_TRUE(compile_all(rules, 1));
  rules[1].sequences = {1, 2};
  EXPECT_FALSE(compile_all(rules, 1));
  EXPECT_FALSE(compile_all(std::vector<Rule>(65), 1));
}

TEST(FaultRule, GoesToThePortsWhereItCanMatch)
{
  std::vector<Rule> rules{dropping("all"), dropping("to 1"), dropping("from 1"), dropping("flow"),
                          dropping("no such flow")};
  rules[1].to = 1;
  rules[1].transmission = Range{2, 2};
  rules[2].from = 1;
  rules[3].flow = 0;
  rules[3].probability_ppm = 5;
  rules[3].classes = {PacketClass::data};
  rules[3].seed_group = "g";
  rules[4].flow = 1;
  const auto made = compile_all(rules, 1);
  ASSERT_TRUE(made) << made.error().message();
  FlowKey flow;
  flow.from = 1;
  flow.to = 2;
  const auto ports = place_rules(*made, std::vector<FlowKey>{flow}, 3);
  ASSERT_EQ(ports.size(), 3U);
  const auto at = [&ports](std::size_t host) {
    return std::vector<int>(ports[host].rules, ports[host].rules + ports[host].rule_count);
  };
  EXPECT_THAT(at(0), ElementsAre(0, 2));
  EXPECT_THAT(at(1), ElementsAre(0, 1));
  EXPECT_THAT(at(2), ElementsAre(0, 2, 3));
  EXPECT_EQ(ports[0].needs, 0);
  EXPECT_EQ(ports[1].needs, FAULT_NEED_TRANSMISSION);
  EXPECT_EQ(ports[2].needs, FAULT_NEED_DATA_NUMBER);
}

} // namespace
} // namespace rdmalab::fault
