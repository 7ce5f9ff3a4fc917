#include "base/random.h"
#include "fault.h"
#include "fault/rule.h"
#include "wire/psn.h"

#include <algorithm>
#include <cstring>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::fault {

namespace {

using wire::FaultAction;
using wire::PacketClass;

static_assert(+FAULT_DROP == static_cast<int>(FaultAction::drop));
static_assert(+FAULT_FORGE == static_cast<int>(FaultAction::forge));
static_assert(+FAULT_REWRITE == static_cast<int>(FaultAction::rewrite));
static_assert(+FAULT_ROCE_OTHER == static_cast<int>(PacketClass::other));
static_assert(+FAULT_CNP == static_cast<int>(PacketClass::cnp));

constexpr std::uint32_t million = 1'000'000;

constexpr std::uint32_t bit(unsigned kind)
{
  return 1U << kind;
}
constexpr std::uint32_t roce_kinds = bit(FAULT_ROCE_OTHER + 1) - 1;
constexpr std::uint32_t tcp_kinds =
    bit(FAULT_TCP_SYN) | bit(FAULT_TCP_DATA) | bit(FAULT_TCP_ACK) | bit(FAULT_TCP_FIN);
constexpr std::uint32_t data_kinds = bit(FAULT_DATA) | bit(FAULT_TCP_DATA);
/// Those that can have a payload.
constexpr std::uint32_t payload_kinds = data_kinds | bit(FAULT_READ_RESPONSE);
/// Those that are part of a message.
constexpr std::uint32_t positioned_kinds =
    bit(FAULT_DATA) | bit(FAULT_READ_REQUEST) | bit(FAULT_READ_RESPONSE) | bit(FAULT_ATOMIC);

Error refuse(const Rule& rule, const std::string& why, std::string hint = {})
{
  return usage_error(fmt::format("fault rule {}: {}", rule.name, why), std::move(hint));
}

/// The kinds that an opcode's packets can be of.
std::uint32_t kinds_of(const wire::Opcode& opcode)
{
  if (opcode.role == wire::Role::acknowledge)
    return bit(FAULT_ACK) | bit(FAULT_NAK) | bit(FAULT_RNR) | bit(FAULT_ROCE_OTHER);
  return bit(static_cast<unsigned>(wire::classify(&opcode, {})));
}

bool wants_roce(const Rule& rule)
{
  return !rule.classes.empty() || !rule.positions.empty() || rule.opcode ||
         rule.transport == Transport::roce;
}

Status compile_kinds(const Rule& rule, fault_rule& to)
{
  if (wants_roce(rule) && (rule.tcp_kinds != 0 || rule.transport == Transport::tcp))
    return refuse(rule, "it asks for RoCE and TCP at once",
                  "packet class, position and opcode are RoCE's; syn, data, ack and fin are TCP's");
  std::uint32_t kinds = bit(FAULT_OTHER + 1) - 1;
  if (wants_roce(rule)) kinds = roce_kinds;
  if (rule.tcp_kinds != 0 || rule.transport == Transport::tcp) kinds = tcp_kinds;
  if (rule.tcp_kinds != 0) kinds = std::uint32_t{rule.tcp_kinds} << +FAULT_TCP_SYN & tcp_kinds;
  if (!rule.classes.empty()) {
    kinds = 0;
    for (const PacketClass each : rule.classes) kinds |= bit(static_cast<unsigned>(each));
  }
  if (rule.opcode) {
    const wire::Opcode* opcode = wire::find_opcode(*rule.opcode);
    if (opcode == nullptr)
      return refuse(rule, fmt::format("opcode {:#04x} is unknown", *rule.opcode));
    kinds &= kinds_of(*opcode);
    if (kinds == 0)
      return refuse(rule, fmt::format("{} is none of its packet classes", opcode->name));
    if (!rule.positions.empty() &&
        std::ranges::find(rule.positions, opcode->position) == rule.positions.end())
      return refuse(rule, fmt::format("{} has none of its positions", opcode->name));
    to.opcode = *rule.opcode;
  }
  for (const wire::Position position : rule.positions)
    to.positions |= static_cast<std::uint8_t>(1U << static_cast<unsigned>(position));
  if (!rule.positions.empty() && (to.positions & 1U) == 0 && (kinds & positioned_kinds) == 0)
    return refuse(rule, "packets of its classes have no position in a message");
  to.kinds = kinds;
  return {};
}

Status compile_numbers(const Rule& rule, fault_rule& to)
{
  const bool roce_only = (to.kinds & tcp_kinds) == 0;
  const std::uint32_t largest = roce_only ? wire::psn_mask : UINT32_MAX;
  if (rule.sequence && !rule.sequences.empty())
    return refuse(rule, "it has a range and a list of sequence numbers", "keep one");
  if (rule.sequence) {
    if (rule.sequence->from > rule.sequence->to)
      return refuse(
          rule, fmt::format("the range {} to {} is empty", rule.sequence->from, rule.sequence->to));
    if (rule.sequence->from > largest)
      return refuse(rule, fmt::format("no relative PSN reaches {}", rule.sequence->from),
                    "a PSN has 24 bits");
    to.conditions |= FAULT_IF_RANGE;
    to.range_from = rule.sequence->from;
    to.range_to = rule.sequence->to;
  }
  if (rule.sequences.size() > +FAULT_LIST)
    return refuse(rule, fmt::format("{} sequence numbers are too many", rule.sequences.size()),
                  fmt::format("a list has at most {}", +FAULT_LIST));
  if (!rule.sequences.empty()) {
    if (const auto most = *std::ranges::max_element(rule.sequences); most > largest)
      return refuse(rule, fmt::format("no relative PSN reaches {}", most), "a PSN has 24 bits");
    to.conditions |= FAULT_IF_LIST;
    to.list_length = static_cast<std::uint8_t>(rule.sequences.size());
    std::ranges::copy(rule.sequences, to.list);
  }
  if (rule.transmission) {
    if (rule.transmission->from == 0 || rule.transmission->from > rule.transmission->to)
      return refuse(rule,
                    fmt::format("transmissions {} to {} don't exist", rule.transmission->from,
                                rule.transmission->to),
                    "1 is the first");
    to.conditions |= FAULT_IF_TRANSMISSION;
    to.transmission_from = rule.transmission->from;
    to.transmission_to = rule.transmission->to;
  }
  if (rule.window) {
    if (rule.window->from_ns >= rule.window->to_ns) return refuse(rule, "its time window is empty");
    to.conditions |= FAULT_IF_WINDOW;
    to.window_from = rule.window->from_ns;
    to.window_to = rule.window->to_ns;
  }
  return {};
}

Status compile_dice(const Rule& rule, std::uint64_t seed, fault_rule& to)
{
  to.seed = mix64(seed, rule.seed);
  to.limit = rule.limit.value_or(UINT64_MAX);
  if (to.limit == 0) return refuse(rule, "with a limit of 0 it never fires");
  if (rule.every_offset && *rule.every_offset >= rule.every)
    return refuse(rule,
                  fmt::format("offset {} is not below every {}", *rule.every_offset, rule.every));
  if (rule.every != 0) {
    to.conditions |= FAULT_IF_EVERY;
    to.every = rule.every;
    to.every_offset = rule.every_offset.value_or(rule.every - 1);
  }
  if (rule.probability_ppm) {
    if (*rule.probability_ppm == 0 || *rule.probability_ppm > million)
      return refuse(rule, fmt::format("{} ppm is no probability", *rule.probability_ppm),
                    "1 to 1000000 ppm");
    if (rule.burst) return refuse(rule, "it has a probability and a burst model", "keep one");
    to.conditions |= FAULT_IF_CHANCE;
    to.chance = chance_of_ppm(*rule.probability_ppm);
  }
  if (!rule.seed_group.empty()) {
    if (!rule.probability_ppm) return refuse(rule, "a seed group needs a probability");
    if ((to.kinds & ~data_kinds) != 0)
      return refuse(rule, "decisions are shared for data packets only", "ask for data");
    to.conditions |= FAULT_IF_SHARED;
    std::uint64_t group = 0;
    for (const char c : rule.seed_group) group = mix64(group, static_cast<unsigned char>(c));
    to.seed = mix64(seed, group);
  }
  if (rule.burst) {
    const Burst& burst = *rule.burst;
    if (burst.good_to_bad_ppm == 0 || burst.good_to_bad_ppm > million ||
        burst.bad_to_good_ppm > million)
      return refuse(rule,
                    fmt::format("a burst of {} and {} ppm is none", burst.good_to_bad_ppm,
                                burst.bad_to_good_ppm),
                    "1 to 1000000 ppm, the way back also 0");
    to.conditions |= FAULT_IF_BURST;
    to.good_to_bad = chance_of_ppm(burst.good_to_bad_ppm);
    to.bad_to_good = chance_of_ppm(burst.bad_to_good_ppm);
  }
  return {};
}

Status compile_pattern(const Rule& rule, fault_rule& to)
{
  const bool zero = std::ranges::all_of(rule.pattern, [](std::uint8_t byte) { return byte == 0; });
  if (rule.pattern.size() > +FAULT_PATTERN || zero)
    return refuse(rule, fmt::format("{} bytes to XOR", rule.pattern.size()),
                  fmt::format("1 to {} bytes that are not all 0", +FAULT_PATTERN));
  if ((to.kinds & payload_kinds) == 0)
    return refuse(rule, "packets of its classes have no payload");
  to.pattern_offset = rule.payload_offset;
  if (rule.payload_offset > +FAULT_PORT_BYTES)
    return refuse(rule, fmt::format("no payload reaches byte {}", rule.payload_offset));
  to.pattern_length = static_cast<std::uint8_t>(rule.pattern.size());
  std::ranges::copy(rule.pattern, to.pattern);
  return {};
}

Status compile_action(const Rule& rule, fault_rule& to)
{
  const FaultAction action = rule.action;
  const bool in_payload = action == FaultAction::corrupt || action == FaultAction::forge;
  if (action == FaultAction::none) return refuse(rule, "it does nothing", "it needs an action");
  if ((rule.delay_ns != 0) != (action == FaultAction::delay))
    return refuse(rule, "a delay and a time to hold belong together");
  if (rule.delay_ns > max_delay_ns)
    return refuse(rule, fmt::format("{} ns is too long a delay", rule.delay_ns),
                  "at most a minute");
  if ((rule.passing != 0) != (action == FaultAction::reorder))
    return refuse(rule, "reordering and how many packets pass belong together");
  if (!rule.pattern.empty() != in_payload)
    return refuse(rule, "changing the payload and bytes to XOR belong together");
  if ((rule.dscp || rule.ttl) != (action == FaultAction::rewrite))
    return refuse(rule, "rewriting and a DSCP or TTL belong together");
  if (rule.dscp && *rule.dscp > 63)
    return refuse(rule, fmt::format("DSCP {} is too large", *rule.dscp), "0 to 63");
  if (rule.ttl && *rule.ttl == 0) return refuse(rule, "a TTL of 0 is not for the wire", "1 to 255");
  if (in_payload) TRY(compile_pattern(rule, to));
  to.action = static_cast<std::uint8_t>(action);
  to.delay_ns = rule.delay_ns;
  to.passing = rule.passing;
  if (rule.dscp) to.set_dscp = static_cast<std::uint8_t>(*rule.dscp + 1);
  if (rule.ttl) to.set_ttl = *rule.ttl;
  return {};
}

/// Whether nothing but the match decides that the rule fires.
bool always_fires(const fault_rule& rule)
{
  return (rule.conditions & (FAULT_IF_EVERY | FAULT_IF_CHANCE | FAULT_IF_BURST)) == 0 &&
         rule.limit == UINT64_MAX && rule.action != FAULT_REORDER && rule.pattern_length == 0;
}

/// Whether both match the same packets, as far as is plain to see.
bool same_match(const fault_rule& a, const fault_rule& b)
{
  constexpr unsigned matching =
      FAULT_IF_RANGE | FAULT_IF_LIST | FAULT_IF_TRANSMISSION | FAULT_IF_WINDOW;
  return a.kinds == b.kinds && a.flow == b.flow && a.opcode == b.opcode && a.from == b.from &&
         a.to == b.to && a.positions == b.positions &&
         (a.conditions & matching) == (b.conditions & matching) && a.range_from == b.range_from &&
         a.range_to == b.range_to && a.transmission_from == b.transmission_from &&
         a.transmission_to == b.transmission_to && a.window_from == b.window_from &&
         a.window_to == b.window_to && a.list_length == b.list_length &&
         std::equal(a.list, a.list + a.list_length, b.list);
}

} // namespace

std::uint64_t chance_of_ppm(std::uint32_t ppm)
{
  return ((std::uint64_t{ppm} << 32U) + million / 2) / million;
}

Result<fault_rule> compile(const Rule& rule, std::uint64_t seed)
{
  fault_rule to{};
  to.flow = rule.flow.value_or(FAULT_NO_FLOW);
  to.opcode = FAULT_NO_OPCODE;
  to.from = rule.from.value_or(FAULT_ANY);
  to.to = rule.to.value_or(FAULT_ANY);
  if (rule.flow && *rule.flow >= +FAULT_FLOWS)
    return refuse(rule, fmt::format("flow {} is too many", *rule.flow),
                  fmt::format("at most {} flows", +FAULT_FLOWS));
  for (const auto& host : {rule.from, rule.to})
    if (host && *host >= +FAULT_HOSTS)
      return refuse(rule, fmt::format("host {} is too many", *host),
                    fmt::format("at most {} hosts", +FAULT_HOSTS));
  if (rule.from && rule.from == rule.to)
    return refuse(rule, "no packet goes from a host to itself");
  TRY(compile_kinds(rule, to));
  TRY(compile_numbers(rule, to));
  TRY(compile_dice(rule, seed, to));
  TRY(compile_action(rule, to));
  return to;
}

Result<std::vector<fault_rule>> compile_all(std::span<const Rule> rules, std::uint64_t seed)
{
  if (rules.size() > +FAULT_RULES)
    return usage_error(fmt::format("use {} fault rules", rules.size()),
                       fmt::format("at most {} are possible", +FAULT_RULES));
  std::vector<fault_rule> compiled;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    TRY_ASSIGN(const fault_rule next, compile(rules[i], seed));
    for (std::size_t before = 0; before < i; ++before) {
      if (rules[before].name == rules[i].name)
        return refuse(rules[i], "there are two of that name");
      if (always_fires(compiled[before]) && same_match(compiled[before], next))
        return refuse(rules[i],
                      fmt::format("{} before it takes all its packets", rules[before].name));
    }
    compiled.push_back(next);
  }
  return compiled;
}

} // namespace rdmalab::fault
