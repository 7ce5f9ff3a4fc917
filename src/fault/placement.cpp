#include "fault/placement.h"

namespace rdmalab::fault {

namespace {

std::uint8_t needs_of(const fault_rule& rule)
{
  unsigned needs = 0;
  const bool by_try = (rule.conditions & (FAULT_IF_CHANCE | FAULT_IF_SHARED)) == +FAULT_IF_CHANCE;
  if (by_try || (rule.conditions & FAULT_IF_TRANSMISSION) != 0) needs |= FAULT_NEED_TRANSMISSION;
  if ((rule.conditions & FAULT_IF_SHARED) != 0) needs |= FAULT_NEED_DATA_NUMBER;
  return static_cast<std::uint8_t>(needs);
}

bool can_match_at(const fault_rule& rule, std::span<const FlowKey> flows, std::size_t host)
{
  if (rule.to != FAULT_ANY && rule.to != host) return false;
  if (rule.from == host) return false;
  if (rule.flow == FAULT_NO_FLOW) return true;
  return rule.flow < flows.size() && flows[rule.flow].to == host;
}

} // namespace

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
    }
  }
  return ports;
}

} // namespace rdmalab::fault
