#include "base/json.h"
#include "lab/operation.h"
#include "lab/reader.h"
#include "lab/sections.h"
#include "lab/suggest.h"

#include <algorithm>
#include <charconv>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::lab {
namespace {

using Words = std::vector<std::string>;

bool among(const Words& words, std::string_view word)
{
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// A word or a list of words, each one of the key's choices.
Words read_words(const Node* node, const Key& key, Diagnostics& out)
{
  Words words;
  if (node == nullptr) return words;
  const auto one = [&](const Node& item) {
    if (!item.scalar() || !among(key.choices, item.text))
      out.add(item,
              fmt::format("unknown {} {}{}", key.name, describe(item),
                          did_you_mean(item.text, key.choices)),
              "allowed: " + join(key.choices));
    else if (among(words, item.text))
      out.add(item, fmt::format("{} \"{}\" stands here twice", key.name, item.text));
    else
      words.push_back(item.text);
  };
  if (node->sequence())
    for (const Node& item : node->items) one(item);
  else
    one(*node);
  return words;
}

std::optional<std::uint64_t> whole_number(std::string_view text)
{
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "7", "7..9", "7..": empty if it is none of these.
std::optional<Span> parse_span(std::string_view text)
{
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) {
    const auto only = whole_number(text);
    return only ? std::optional(Span{*only, *only}) : std::nullopt;
  }
  const auto first = whole_number(text.substr(0, dots));
  const std::string_view rest = text.substr(dots + 2);
  Span span;
  const auto last = rest.empty() ? std::optional(span.last) : whole_number(rest);
  if (!first || !last) return std::nullopt;
  return Span{*first, *last};
}

} // namespace

std::vector<Span> read_spans(const Node* node, const Key& key, Diagnostics& out)
{
  std::vector<Span> spans;
  if (node == nullptr) return spans;
  const auto one = [&](const Node& item) {
    const auto span = item.scalar() ? parse_span(item.text) : std::nullopt;
    if (!span)
      out.add(item, fmt::format("{} {} is neither a number nor a range", key.name, describe(item)),
              "for example 7, 7..9, 7.., or a list of these");
    else if (span->last < span->first)
      out.add(item,
              fmt::format("{} {} holds nothing: it ends before it begins", key.name, item.text));
    else if (span->first < key.min || span->first > key.max)
      out.add(item, fmt::format("{} {} is out of range", key.name, item.text),
              fmt::format("allowed: {} to {}", key.min, key.max));
    else
      spans.push_back(*span);
  };
  if (node->sequence())
    for (const Node& item : node->items) one(item);
  else
    one(*node);
  // One range is kept as such, a list as its numbers.
  constexpr std::uint64_t room = 16;
  std::uint64_t numbers = 0;
  for (const Span& span : spans) numbers += std::min(span.last - span.first, room) + 1;
  if (spans.size() > 1 && numbers > room)
    out.add(*node, fmt::format("{} lists too many: a list has room for {} numbers", key.name, room),
            "make several rules, or one range");
  return spans;
}

Words classes_of(const Traffic& traffic)
{
  if (traffic.kind == TrafficKind::tcp) return {"syn", "data", "ack", "fin"};
  if (traffic.verbs.transport == Transport::uc || traffic.verbs.transport == Transport::ud)
    return {"data"};
  if (operation_of(traffic.verbs.op).atomic) return {"atomic", "atomic-ack", "nak", "rnr", "cnp"};
  if (operation_of(traffic.verbs.op).reads) return {"read-request", "read-response", "nak", "cnp"};
  return {"data", "ack", "nak", "rnr", "cnp"};
}

namespace {

/// Classes whose packets carry payload.
bool carries_payload(std::string_view name)
{
  return name == "data" || name == "read-response";
}

/// More packets than the link can carry from start to stop; unlimited without a rate.
std::uint64_t most_packets(const Lab& lab, const Traffic& traffic)
{
  for (const Host& host : lab.topology.hosts) {
    if (host.name != data_sink(traffic) || host.down.rate_bps == 0) continue;
    const std::uint64_t payload = traffic.kind == TrafficKind::tcp ? lab.topology.mtu - 60
                                  : traffic.verbs.path_mtu != 0    ? traffic.verbs.path_mtu
                                                                   : ib_mtu(lab.topology.mtu);
    const std::uint64_t us = (lab.measure.warmup_ns + lab.measure.duration_ns) / 1000;
    return host.down.rate_bps / 8 * us / 1'000'000 / std::max<std::uint64_t>(payload, 1) +
           std::uint64_t{2} * traffic.verbs.depth * traffic.message_bytes / payload;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

class RuleChecker {
public:
  RuleChecker(const Reader& reader, const Node& node, const Rule& rule, Diagnostics& out)
      : reader_(reader), node_(node), rule_(rule), out_(out)
  {}

  void alone()
  {
    if (rule_.p_ppm != 0 && rule_.r_ppm == 0)
      complain("p", "bursts that begin never end: \"r\" is missing", "for example r: 25%");
    if (rule_.r_ppm != 0 && rule_.p_ppm == 0)
      complain("r", "bursts end that never begin: \"p\" is missing", "for example p: 1%");
    if (rule_.p_ppm != 0 && rule_.rate_ppm != 1'000'000)
      complain("rate", "a rule draws either by rate or in bursts", "leave one of the two out");
    if (!rule_.draw.empty() && rule_.rate_ppm == 1'000'000)
      complain("draw", "there is nothing to draw at a rate of 100 %", "for example rate: 1%");
    if (rule_.end_ns <= rule_.begin_ns) complain("end", "the rule ends before it begins", {});
    if (rule_.kind == RuleKind::rewrite && !rule_.dscp && !rule_.ttl)
      complain("kind", "a rewrite needs dscp or ttl", "for example dscp: 46");
  }

  void against(const Lab& lab, const Traffic& traffic)
  {
    if (traffic.kind == TrafficKind::command) {
      complain(
          "traffic",
          fmt::format("\"{}\" is a program, whose packets rdmalab does not know", traffic.name),
          "name a traffic of kind verbs or tcp");
      return;
    }
    if (traffic.kind == TrafficKind::verbs && operation_of(traffic.verbs.op).local) {
      complain("traffic", fmt::format("\"{}\" sends no packets", traffic.name), {});
      return;
    }
    if (over_iwarp(traffic)) {
      complain("traffic",
               fmt::format("\"{}\" is iWARP, whose connection is there before rules are armed",
                           traffic.name),
               "faults hit it, and rules hit kind tcp and RoCE");
      return;
    }
    const bool tcp = traffic.kind == TrafficKind::tcp;
    const Words possible = classes_of(traffic);
    for (const std::string& name : rule_.classes)
      if (!among(possible, name))
        complain("class", fmt::format("\"{}\" sends no packets of class {}", traffic.name, name),
                 "its classes: " + join(possible));
    if (tcp && !rule_.positions.empty())
      complain("position", "TCP's segments have no position in a message", {});
    if (tcp && !rule_.opcode.empty())
      complain("opcode", fmt::format("\"{}\" is TCP and has no opcodes", traffic.name), {});
    if (!tcp && traffic.verbs.transport != Transport::rc) unreliable(traffic);
    const std::uint32_t streams = tcp ? traffic.tcp.streams : traffic.verbs.qps;
    if (rule_.stream && *rule_.stream >= streams)
      complain(
          "stream",
          fmt::format("\"{}\" has no stream {}: it has {}", traffic.name, *rule_.stream, streams),
          "they are numbered from 0");
    payload(traffic);
    if (tcp || rule_.numbers.empty()) return;
    const std::uint64_t most = most_packets(lab, traffic);
    const bool past = std::all_of(rule_.numbers.begin(), rule_.numbers.end(),
                                  [&](const Span& span) { return span.first > most; });
    if (past && !rule_.may_miss)
      complain("number",
               fmt::format("\"{}\" never gets that far: its link carries less than {} packets",
                           traffic.name, most),
               "take a smaller number, or measure longer");
  }

  /// A rule before this one that leaves nothing over for it.
  void after(const std::vector<Rule>& others)
  {
    for (const Rule& other : others) {
      const bool takes_all = other.traffic == rule_.traffic && other.rate_ppm == 1'000'000 &&
                             other.p_ppm == 0 && other.every == 1 && other.limit == 0 &&
                             other.begin_ns <= rule_.begin_ns && other.end_ns >= rule_.end_ns &&
                             other.opcode.empty() && other.transmission == Rule{}.transmission &&
                             (other.numbers.empty() || other.numbers == rule_.numbers) &&
                             (!other.stream || other.stream == rule_.stream) &&
                             covers(other.classes, rule_.classes) &&
                             covers(other.positions, rule_.positions);
      if (takes_all)
        complain("name",
                 fmt::format("\"{}\" never sees a packet: \"{}\" takes them all before", rule_.name,
                             other.name),
                 "the first rule that matches wins: put the narrower one first");
    }
  }

private:
  /// Nothing is sent again, and the opcodes that a rule can name are those of RC.
  void unreliable(const Traffic& traffic)
  {
    if (!rule_.opcode.empty())
      complain("opcode",
               fmt::format("\"{}\" is no reliable connection, and has no RC opcodes", traffic.name),
               "position: tells first, middle, last and only packets apart");
    if (!(rule_.transmission == Rule{}.transmission))
      complain("transmission",
               fmt::format("\"{}\" is no reliable connection: nothing is sent again", traffic.name),
               {});
  }

  static bool covers(const Words& wide, const Words& narrow)
  {
    if (wide.empty()) return true;
    return !narrow.empty() && std::all_of(narrow.begin(), narrow.end(),
                                          [&](const auto& word) { return among(wide, word); });
  }

  void payload(const Traffic& traffic)
  {
    if (rule_.kind != RuleKind::corrupt && rule_.kind != RuleKind::forge) return;
    const bool has = rule_.classes.empty() ||
                     std::any_of(rule_.classes.begin(), rule_.classes.end(),
                                 [](const auto& name) { return carries_payload(name); });
    if (!has)
      complain("class", "these packets carry no payload that could change",
               traffic.kind == TrafficKind::verbs && operation_of(traffic.verbs.op).reads
                   ? "class: read-response"
                   : "class: data");
    if (rule_.offset >= traffic.message_bytes)
      complain("offset", fmt::format("a message of \"{}\" ends before that", traffic.name), {});
  }

  void complain(std::string_view key, std::string message, std::string hint)
  {
    out_.add(reader_.has(key) ? reader_.place(key) : node_, std::move(message), std::move(hint));
  }

  const Reader& reader_;
  const Node& node_;
  const Rule& rule_;
  Diagnostics& out_;
};

void read_conditions(Reader& reader, Rule& rule, Diagnostics& out)
{
  const auto key = [&](const char* name) -> const Key& {
    return *rule_table().find(name, reader.kind());
  };
  if (const auto stream = reader.number("stream"))
    rule.stream = static_cast<std::uint32_t>(*stream);
  rule.classes = read_words(reader.child("class"), key("class"), out);
  rule.positions = read_words(reader.child("position"), key("position"), out);
  reader.into("opcode", rule.opcode);
  rule.numbers = read_spans(reader.child("number"), key("number"), out);
  const Node* transmission = reader.child("transmission");
  const auto times = read_spans(transmission, key("transmission"), out);
  if (times.size() > 1) out.add(*transmission, "transmission is one number or one range");
  if (times.size() == 1) rule.transmission = times.front();
  reader.into("every", rule.every);
  reader.into("rate", rule.rate_ppm);
  reader.into("draw", rule.draw);
  reader.into("p", rule.p_ppm);
  reader.into("r", rule.r_ppm);
  reader.into("begin", rule.begin_ns);
  reader.into("end", rule.end_ns);
  reader.into("limit", rule.limit);
  reader.into("may_miss", rule.may_miss);
}

void read_effect(Reader& reader, Rule& rule)
{
  switch (rule.kind) {
  case RuleKind::delay:
    reader.into("delay", rule.delay_ns);
    break;
  case RuleKind::reorder:
    reader.into("packets", rule.packets);
    break;
  case RuleKind::corrupt:
  case RuleKind::forge:
    reader.into("offset", rule.offset);
    reader.into("bytes", rule.bytes);
    break;
  case RuleKind::rewrite:
    if (const auto dscp = reader.number("dscp")) rule.dscp = static_cast<std::uint32_t>(*dscp);
    if (const auto ttl = reader.number("ttl")) rule.ttl = static_cast<std::uint32_t>(*ttl);
    break;
  case RuleKind::drop:
  case RuleKind::duplicate:
  case RuleKind::mark:
    break;
  }
}

} // namespace

void check_rule(const Reader& reader, const Node& node, const Rule& rule, const Lab& lab,
                const Traffic* traffic, Diagnostics& out)
{
  RuleChecker checker(reader, node, rule, out);
  checker.alone();
  if (traffic != nullptr) checker.against(lab, *traffic);
  checker.after(lab.rules);
}

void read_rules(const Node& node, Lab& lab, const Names& traffics, Diagnostics& out)
{
  if (!node.sequence()) {
    out.add(node, fmt::format("rules is a list, not {}", describe(node)),
            "for example - {name: gap, kind: drop, traffic: roce, class: data, number: 100}");
    return;
  }
  Names names("rule", out);
  for (const Fault& fault : lab.faults) names.declare(fault.name, node);
  for (const Node& item : node.items) {
    Rule rule;
    Reader reader(item, rule_table(), out);
    reader.into("name", rule.name);
    if (!rule.name.empty()) names.declare(rule.name, reader.place("name"));
    reader.into("traffic", rule.traffic);
    const bool known =
        !rule.traffic.empty() && traffics.check(rule.traffic, reader.place("traffic"));
    if (reader.kind().empty()) continue;
    rule.kind = Json(reader.kind()).get<RuleKind>();
    read_conditions(reader, rule, out);
    read_effect(reader, rule);
    check_rule(reader, item, rule, lab, known ? find_traffic(lab, rule.traffic) : nullptr, out);
    lab.rules.push_back(std::move(rule));
  }
  constexpr std::size_t most_rules = 64;
  if (lab.rules.size() > most_rules)
    out.add(node, fmt::format("{} rules are more than the {} that a lab may have", lab.rules.size(),
                              most_rules));
}

void read_trace(const Node& node, Lab& lab, Diagnostics& out)
{
  Reader reader(node, trace_table(), out);
  lab.trace.on = true;
  reader.into("on", lab.trace.on);
  reader.into("snap", lab.trace.snap_bytes);
}

} // namespace rdmalab::lab
