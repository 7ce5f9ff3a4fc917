/// Which packets a rule could reach, and where a flow is found: without a kernel.
#include "base/random.h"
#include "fault/flow_table.h"
#include "fault/placement.h"

#include <cerrno>

#include <gmock/gmock.h>

namespace rdmalab::fault {
namespace {

std::vector<FlowKey> some_flows()
{
  std::vector<FlowKey> flows(3);
  flows[0].to = 1;
  flows[1].from = 1;
  flows[2].to = 1;
  return flows;
}

fault_rule compiled(const Rule& rule)
{
  auto made = compile(rule, 1);
  EXPECT_TRUE(made);
  return made ? *made : fault_rule{};
}

Rule data_rule(std::optional<std::uint16_t> flow)
{
  Rule rule;
  rule.name = "rule";
  rule.flow = flow;
  rule.classes = {wire::PacketClass::data};
  rule.action = wire::FaultAction::drop;
  return rule;
}

TEST(FaultReach, IsWhatARangeOrAListSpans)
{
  Rule range = data_rule(0);
  range.sequence = Range{10, 20};
  Rule list = data_rule(0);
  list.sequences = {40, 7, 30};
  const auto flows = reach_rules(std::vector{compiled(range), compiled(list)}, some_flows());
  ASSERT_EQ(flows.size(), 3U);
  EXPECT_EQ(flows[0].kinds, 1U << FAULT_DATA);
  EXPECT_EQ(flows[0].from, 7U);
  EXPECT_EQ(flows[0].to, 40U);
  EXPECT_EQ(flows[1].kinds, 0U);
  EXPECT_EQ(flows[2].kinds, 0U);
}

TEST(FaultReach, IsAllNumbersForARuleThatCountsThem)
{
  Rule every = data_rule(0);
  every.every = 500;
  Rule shared = data_rule(2);
  shared.sequence = Range{10, 20};
  shared.probability_ppm = 1000;
  shared.seed_group = "losses";
  const auto flows = reach_rules(std::vector{compiled(every), compiled(shared)}, some_flows());
  for (const std::size_t flow : {0U, 2U}) {
    EXPECT_EQ(flows[flow].from, 0U);
    EXPECT_EQ(flows[flow].to, UINT32_MAX);
  }
}

TEST(FaultReach, OfARuleWithoutAFlowIsEveryFlowAndUnknownOnes)
{
  Rule any = data_rule({});
  any.to = 1;
  any.sequence = Range{5, 5};
  const std::vector rules{compiled(any)};
  const auto flows = reach_rules(rules, some_flows());
  EXPECT_EQ(flows[0].kinds, 1U << FAULT_DATA);
  EXPECT_EQ(flows[1].kinds, 0U); // it goes to the other host
  EXPECT_EQ(flows[2].from, 5U);
  const auto ports = place_rules(rules, some_flows(), 2);
  EXPECT_EQ(ports[0].kinds, 0U);
  EXPECT_EQ(ports[1].kinds, 1U << FAULT_DATA);
  EXPECT_EQ(place_rules(std::vector{compiled(data_rule(0))}, some_flows(), 2)[1].kinds, 0U);
}

const fault_flow_slot* find(const FlowTable& table, std::uint64_t key)
{
  const std::size_t first = fault_flow_bucket(key, table.factor) * FAULT_FLOW_BUCKET;
  for (std::size_t i = first; i < first + FAULT_FLOW_BUCKET; ++i)
    if (table.slots[i].flow != 0 && table.slots[i].key == key) return &table.slots[i];
  return nullptr;
}

TEST(FaultFlowTable, FindsAsManyFlowsAsThereMayBe)
{
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<fault_flow_slot> flows;
    for (std::uint32_t i = 0; i < +FAULT_FLOWS; ++i) {
      FlowKey flow;
      flow.to = 1;
      // In a row, as rxe numbers its queue pairs, or anywhere.
      flow.destination_qpn =
          seed % 2 == 0 ? 17 + i : static_cast<std::uint32_t>(mix64(seed, i)) & 0xffffffU;
      flows.push_back({flow_key(flow), i, static_cast<std::uint16_t>(i + 1), 1});
    }
    const auto table = make_flow_table(flows);
    ASSERT_TRUE(table) << seed;
    for (const fault_flow_slot& flow : flows) {
      const auto* found = find(*table, flow.key);
      ASSERT_NE(found, nullptr);
      EXPECT_EQ(found->flow, flow.flow);
    }
    EXPECT_EQ(find(*table, 1), nullptr);
  }
}

TEST(FaultFlowTable, TellsDirectionsAndTransportsApart)
{
  FlowKey there;
  there.to = 1;
  there.destination_qpn = 0x11;
  FlowKey back = there;
  std::swap(back.from, back.to);
  FlowKey tcp = there;
  tcp.transport = Transport::tcp;
  tcp.destination_port = 0x11;
  EXPECT_NE(flow_key(there), flow_key(back));
  EXPECT_NE(flow_key(there), flow_key(tcp));
  const std::vector<fault_flow_slot> twice(2, {flow_key(there), 0, 1, 1});
  const auto table = make_flow_table(twice);
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().number, EEXIST);
}

} // namespace
} // namespace rdmalab::fault
