#include "engine/rule_flows.h"

#include "base/json.h"
#include "wire/opcode.h"

#include <algorithm>
#include <limits>

namespace rdmalab::engine {
namespace {

constexpr std::uint64_t most_relative = std::numeric_limits<std::uint32_t>::max();

fault::Range to_range(const lab::Span& span, std::uint64_t shift)
{
  return {static_cast<std::uint32_t>(std::min(span.first + shift, most_relative)),
          static_cast<std::uint32_t>(span.last >= most_relative - shift ? most_relative
                                                                        : span.last + shift)};
}

wire::FaultAction action_of(lab::RuleKind kind)
{
  switch (kind) {
  case lab::RuleKind::drop:
    return wire::FaultAction::drop;
  case lab::RuleKind::delay:
    return wire::FaultAction::delay;
  case lab::RuleKind::duplicate:
    return wire::FaultAction::duplicate;
  case lab::RuleKind::reorder:
    return wire::FaultAction::reorder;
  case lab::RuleKind::corrupt:
    return wire::FaultAction::corrupt;
  case lab::RuleKind::forge:
    return wire::FaultAction::forge;
  case lab::RuleKind::mark:
    return wire::FaultAction::mark;
  case lab::RuleKind::rewrite:
    return wire::FaultAction::rewrite;
  }
  return wire::FaultAction::none;
}

std::optional<wire::Position> position_of(const std::string& name)
{
  for (const auto position :
       {wire::Position::first, wire::Position::middle, wire::Position::last, wire::Position::only})
    if (wire::to_string(position) == name) return position;
  return std::nullopt;
}

std::uint8_t tcp_kind_of(const std::string& name)
{
  if (name == "syn") return fault::tcp_kind_syn;
  if (name == "data") return fault::tcp_kind_data;
  if (name == "ack") return fault::tcp_kind_ack;
  return fault::tcp_kind_fin;
}

void set_class(const lab::Rule& rule, bool tcp, fault::Rule& made)
{
  for (const std::string& name : rule.classes) {
    if (tcp)
      made.tcp_kinds = static_cast<std::uint8_t>(made.tcp_kinds | tcp_kind_of(name));
    else if (const auto known = wire::parse_packet_class(name))
      made.classes.push_back(*known);
  }
  for (const std::string& name : rule.positions)
    if (const auto known = position_of(name)) made.positions.push_back(*known);
  if (const wire::Opcode* opcode = wire::find_opcode(std::string_view(rule.opcode)))
    made.opcode = opcode->code;
}

/// TCP counts from the SYN, which is 0; its first byte of payload is 1.
void set_numbers(const lab::Rule& rule, bool tcp, fault::Rule& made)
{
  const std::uint64_t shift = tcp ? 1 : 0;
  if (rule.numbers.size() == 1 && rule.numbers.front().first != rule.numbers.front().last) {
    made.sequence = to_range(rule.numbers.front(), shift);
    return;
  }
  for (const lab::Span& span : rule.numbers)
    for (std::uint64_t number = span.first; number <= span.last; ++number)
      made.sequences.push_back(static_cast<std::uint32_t>(std::min(number + shift, most_relative)));
}

} // namespace

Directions directions_of(const lab::Rule& rule, const lab::Traffic& traffic)
{
  if (rule.classes.empty()) return {true, true};
  Directions found;
  for (const std::string& name : rule.classes) {
    if (traffic.kind == lab::TrafficKind::tcp) {
      found.there = true;
      found.back = found.back || name != "data";
    } else if (name == "data" || name == "read-request" || name == "atomic") {
      found.there = true;
    } else {
      found.back = true;
    }
  }
  return found;
}

fault::Rule to_fault_rule(const lab::Rule& rule, const lab::Traffic& traffic, std::uint16_t flow)
{
  const bool tcp = traffic.kind == lab::TrafficKind::tcp;
  fault::Rule made;
  made.name = rule.name;
  made.transport = tcp ? fault::Transport::tcp : fault::Transport::roce;
  made.flow = flow;
  set_class(rule, tcp, made);
  set_numbers(rule, tcp, made);
  if (!(rule.transmission == lab::Rule{}.transmission))
    made.transmission = to_range(rule.transmission, 0);
  if (rule.begin_ns != 0 || rule.end_ns != lab::Rule{}.end_ns)
    made.window = fault::Window{rule.begin_ns, rule.end_ns};
  made.every = rule.every > 1 ? rule.every : 0;
  if (rule.rate_ppm != 1'000'000) made.probability_ppm = static_cast<std::uint32_t>(rule.rate_ppm);
  made.seed_group = rule.draw;
  if (rule.p_ppm != 0)
    made.burst = fault::Burst{static_cast<std::uint32_t>(rule.p_ppm),
                              static_cast<std::uint32_t>(rule.r_ppm)};
  if (rule.limit != 0) made.limit = rule.limit;
  made.action = action_of(rule.kind);
  made.delay_ns = rule.delay_ns;
  made.passing = rule.packets;
  made.payload_offset = rule.offset;
  if (rule.kind == lab::RuleKind::corrupt || rule.kind == lab::RuleKind::forge)
    made.pattern.assign(rule.bytes, 0xff);
  if (rule.dscp) made.dscp = static_cast<std::uint8_t>(*rule.dscp);
  if (rule.ttl) made.ttl = static_cast<std::uint8_t>(*rule.ttl);
  return made;
}

} // namespace rdmalab::engine
