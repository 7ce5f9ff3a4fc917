#include "fault/placement.h"

#include "fault/rule.h"

#include <algorithm>

namespace rdmalab::fault {

namespace {

std::uint8_t needs_of(const fault_rule& rule)
{
  unsigned needs = 0;
  const bool by_try = (rule.conditions & (FAULT_IF_CHANCE | FAULT_IF_SHARED)) == +FAULT_IF_CHANCE;
  if (by_try || (rule.conditions & FAULT_IF_TRANSMISSION) != 0) needs |= FAULT_NEED_TRANSMISSION;
  if ((rule.conditions & FAULT_IF_SHARED) != 0) needs |= FAULT_NEED_DATA_NUMBER;
  if ((rule.conditions & FAULT_IF_WINDOW) != 0) needs |= FAULT_NEED_TIME;
  return static_cast<std::uint8_t>(needs);
}

bool can_match_at(const fault_rule& rule, std::span<const FlowKey> flows, std::size_t host)
{
  if (rule.to != FAULT_ANY && rule.to != host) return false;
  if (rule.from == host) return false;
  if (rule.flow == FAULT_NO_FLOW) return true;
  return rule.flow < flows.size() && flows[rule.flow].to == host;
}

/// The numbers that the rule asks for. A shared draw counts all data packets, whatever their
/// number.
Range numbers_of(const fault_rule& rule)
{
  if ((rule.conditions & FAULT_IF_SHARED) != 0) return {0, UINT32_MAX};
  if ((rule.conditions & FAULT_IF_RANGE) != 0) return {rule.range_from, rule.range_to};
  if ((rule.conditions & FAULT_IF_LIST) != 0) {
    const auto [least, most] = std::minmax_element(rule.list, rule.list + rule.list_length);
    return {*least, *most};
  }
  return {0, UINT32_MAX};
}

} // namespace

std::vector<fault_flow> reach_rules(std::span<const fault_rule> rules,
                                    std::span<const FlowKey> flows)
{
  std::vector<fault_flow> reached(flows.size());
  for (std::size_t i = 0; i < flows.size(); ++i) {
    fault_flow& flow = reached[i];
    flow.from = UINT32_MAX;
    for (const fault_rule& rule : rules) {
      if (rule.flow != FAULT_NO_FLOW && rule.flow != i) continue;
      if (!can_match_at(rule, flows, flows[i].to)) continue;
      const Range numbers = numbers_of(rule);
      flow.kinds |= rule.kinds;
      flow.from = std::min(flow.from, numbers.from);
      flow.to = std::max(flow.to, numbers.to);
    }
  }
  return reached;
}

std::vector<fault_port> place_rules(std::span<const fault_rule> rules,
                                    std::span<const FlowKey> flows, std::size_t hosts)
{
  std::vector<fault_port> ports(hosts);
  for (std::size_t host = 0; host < hosts; ++host) {
    fault_port& port = ports[host];
    for (std::size_t rule = 0; rule < rules.size() && rule < +FAULT_RULES; ++rule) {
      if (!can_match_at(rules[rule], flows, host)) continue;
      port.rules[port.rule_count++] = static_cast<std::uint8_t>(rule);
      port.needs |= needs_of(rules[rule]);
      if (rules[rule].flow == FAULT_NO_FLOW)
        port.kinds |= static_cast<std::uint16_t>(rules[rule].kinds);
    }
  }
  return ports;
}

} // namespace rdmalab::fault
