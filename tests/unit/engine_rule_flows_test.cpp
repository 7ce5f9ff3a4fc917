#include "engine/rule_flows.h"
#include "fault.h"
#include "lab/keys.h"
#include "wire/opcode.h"

#include <gmock/gmock.h>

namespace rdmalab::engine {
namespace {

using testing::ElementsAre;

lab::Traffic traffic(lab::TrafficKind kind)
{
  lab::Traffic made;
  made.kind = kind;
  return made;
}

TEST(RuleFlows, AClassTellsTheDirection)
{
  const auto ways = [](lab::TrafficKind kind, std::vector<std::string> classes) {
    lab::Rule rule;
    rule.classes = std::move(classes);
    const Directions found = directions_of(rule, traffic(kind));
    return std::pair(found.there, found.back);
  };
  using lab::TrafficKind;
  EXPECT_EQ(ways(TrafficKind::verbs, {"data"}), std::pair(true, false));
  EXPECT_EQ(ways(TrafficKind::verbs, {"nak", "ack"}), std::pair(false, true));
  EXPECT_EQ(ways(TrafficKind::verbs, {"read-request", "read-response"}), std::pair(true, true));
  EXPECT_EQ(ways(TrafficKind::verbs, {}), std::pair(true, true));
  EXPECT_EQ(ways(TrafficKind::tcp, {"data"}), std::pair(true, false));
  EXPECT_EQ(ways(TrafficKind::tcp, {"ack"}), std::pair(true, true));
}

TEST(RuleFlows, NumbersOfTcpCountFromTheFirstByteOfPayload)
{
  lab::Rule rule;
  rule.numbers = {{0, 99}};
  const fault::Rule tcp = to_fault_rule(rule, traffic(lab::TrafficKind::tcp), 3);
  ASSERT_TRUE(tcp.sequence);
  EXPECT_EQ(tcp.sequence->from, 1U); // the SYN is 0
  EXPECT_EQ(tcp.sequence->to, 100U);
  EXPECT_EQ(tcp.flow, 3U);
  const fault::Rule verbs = to_fault_rule(rule, traffic(lab::TrafficKind::verbs), 0);
  EXPECT_EQ(verbs.sequence->from, 0U);
  EXPECT_EQ(verbs.sequence->to, 99U);
}

TEST(RuleFlows, AListIsItsNumbers)
{
  lab::Rule rule;
  rule.numbers = {{7, 7}, {20, 22}};
  const fault::Rule made = to_fault_rule(rule, traffic(lab::TrafficKind::verbs), 0);
  EXPECT_THAT(made.sequences, ElementsAre(7U, 20U, 21U, 22U));
  EXPECT_FALSE(made.sequence);
}

TEST(RuleFlows, OpenEndsStayOpen)
{
  lab::Rule rule;
  rule.numbers = {{7, UINT64_MAX}};
  rule.transmission = {2, UINT64_MAX};
  const fault::Rule made = to_fault_rule(rule, traffic(lab::TrafficKind::tcp), 0);
  EXPECT_EQ(made.sequence->to, UINT32_MAX);
  EXPECT_EQ(made.transmission->from, 2U);
  EXPECT_EQ(made.transmission->to, UINT32_MAX);
}

/// Whatever a lab may say of a rule, the programs take.
TEST(RuleFlows, EveryKindCompiles)
{
  using lab::RuleKind;
  for (const RuleKind kind :
       {RuleKind::drop, RuleKind::delay, RuleKind::duplicate, RuleKind::reorder, RuleKind::corrupt,
        RuleKind::forge, RuleKind::mark, RuleKind::rewrite}) {
    lab::Rule rule;
    rule.name = "r";
    rule.kind = kind;
    rule.classes = {"data"};
    if (kind == RuleKind::delay) rule.delay_ns = 1'000'000;
    if (kind == RuleKind::reorder) rule.packets = 3;
    if (kind == RuleKind::rewrite) rule.dscp = 46;
    rule.bytes = 8;
    for (const auto transport : {lab::TrafficKind::verbs, lab::TrafficKind::tcp}) {
      const auto compiled = fault::compile(to_fault_rule(rule, traffic(transport), 0), 1);
      EXPECT_TRUE(compiled) << compiled.error().message();
    }
  }
}

/// The lab room knows no wire formats, so its table of opcodes is a copy.
TEST(RuleFlows, TheLabsOpcodesAreTheWiresOfReliableConnections)
{
  std::vector<std::string> known;
  for (const wire::Opcode& opcode : wire::opcodes())
    if (opcode.service == wire::Service::rc) known.emplace_back(opcode.name);
  EXPECT_THAT(lab::rule_table().find("opcode", "drop")->choices,
              testing::UnorderedElementsAreArray(known));
}

} // namespace
} // namespace rdmalab::engine
