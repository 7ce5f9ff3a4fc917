#include "lab/sections.h"
#include "lab/suggest.h"

#include <algorithm>
#include <array>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::lab {
namespace {

constexpr std::array<std::pair<std::string_view, EventKind>, 5> event_kinds{
    {{"packet", EventKind::packet},
     {"never", EventKind::never},
     {"completion", EventKind::completion},
     {"state", EventKind::state},
     {"counter", EventKind::counter}}};

/// Keys besides `traffic` and `stream` that an event of this kind takes.
std::vector<std::string> keys_of(EventKind kind)
{
  switch (kind) {
  case EventKind::packet:
    return {"opcode", "number", "syndrome", "rnr_timer", "transmission",
            "from",   "do",     "rule",     "after",     "within"};
  case EventKind::never:
    return {"opcode", "number", "syndrome", "rnr_timer", "transmission", "from", "rule"};
  case EventKind::completion:
    return {"count"};
  case EventKind::state:
    return {"host"};
  case EventKind::counter:
    return {"host", "count"};
  }
  return {};
}

bool judged_at_the_end(EventKind kind)
{
  return kind != EventKind::packet && kind != EventKind::never;
}

std::string text_of(const Node& node)
{
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < node.keys.size() && i < node.items.size(); ++i)
    parts.push_back(node.keys[i].text + ": " + node.items[i].text);
  return join(parts);
}

/// Reads one event and reports what is wrong with it.
class EventReader {
public:
  EventReader(const Node& node, Lab& lab, const Names& traffics, Diagnostics& out)
      : node_(node), lab_(lab), traffics_(traffics), out_(out), reader_(node, event_table(), out)
  {}

  /// `number`: the event's place in the list, from 1.
  std::optional<Event> read(std::size_t number)
  {
    event_.line = node_.line;
    event_.text = text_of(node_);
    const bool known = read_kind();
    read_fields();
    if (!known) return std::nullopt;
    traffic_ = find_verbs();
    if (traffic_ == nullptr) return std::nullopt;
    check();
    act(number);
    return std::move(event_);
  }

  /// Where to complain about what the list as a whole has.
  [[nodiscard]] const Node& place(std::string_view key) const { return reader_.place(key); }

private:
  bool read_kind()
  {
    std::vector<std::string> found;
    bool good = true;
    for (const auto& [name, kind] : event_kinds) {
      const auto value = reader_.text(name);
      if (!reader_.has(name)) continue;
      found.emplace_back(name);
      event_.kind = kind;
      (judged_at_the_end(kind) ? event_.word : event_.packet_class) = value.value_or("");
      good = good && value; // otherwise it is reported
    }
    if (found.empty())
      out_.add(node_, "an event has one of packet, never, completion, state and counter",
               "for example {packet: nak, number: 3}");
    else if (found.size() > 1)
      out_.add(reader_.place(found[1]),
               fmt::format("an event is one thing: this one is {} and {}", found[0], found[1]),
               "make two events of it");
    return good && found.size() == 1;
  }

  void read_fields()
  {
    reader_.into("traffic", event_.traffic);
    reader_.into("stream", event_.stream);
    reader_.into("opcode", event_.opcode);
    const Node* number = reader_.child("number");
    const auto spans = read_spans(number, *event_table().find("number"), out_);
    if (spans.size() > 1)
      out_.add(*number, "number is one number or one range", "make several events of it");
    else if (spans.size() == 1)
      event_.number = spans.front();
    reader_.into("syndrome", event_.syndrome);
    if (const auto timer = reader_.number("rnr_timer"))
      event_.rnr_timer = static_cast<std::uint32_t>(*timer);
    reader_.into("transmission", event_.transmission);
    reader_.into("from", event_.from);
    reader_.into("do", action_);
    reader_.into("rule", event_.rule);
    reader_.into("after", event_.after_ns);
    reader_.into("within", event_.within_ns);
    reader_.into("host", event_.host);
    event_.count = reader_.number("count");
  }

  /// Null: reported.
  const Traffic* find_verbs()
  {
    if (event_.traffic.empty()) {
      for (const Traffic& t : lab_.traffic) {
        if (t.kind != TrafficKind::verbs) continue;
        if (!event_.traffic.empty()) {
          out_.add(node_, "whose event this is stands nowhere",
                   fmt::format("there are {} and {}: say traffic: {}", event_.traffic, t.name,
                               event_.traffic));
          return nullptr;
        }
        event_.traffic = t.name;
      }
      if (event_.traffic.empty() && traffics_.trusted())
        out_.add(node_, "events are about traffic of kind verbs, and the lab has none");
    } else if (!traffics_.check(event_.traffic, reader_.place("traffic"))) {
      return nullptr;
    }
    const Traffic* found = find_traffic(lab_, event_.traffic);
    if (found != nullptr && found->kind != TrafficKind::verbs) {
      out_.add(
          reader_.place("traffic"),
          fmt::format("events are about traffic of kind verbs, which \"{}\" is not", found->name));
      return nullptr;
    }
    return found;
  }

  void check()
  {
    const auto allowed = keys_of(event_.kind);
    const std::string kind = kind_name();
    for (const Key& key : event_table().keys) {
      const bool common = key.name == "traffic" || key.name == "stream" || key.name == kind;
      const bool fits = std::find(allowed.begin(), allowed.end(), key.name) != allowed.end();
      if (!common && !fits && reader_.has(key.name))
        complain(key.name, fmt::format("{} says nothing of a {}", key.name, kind),
                 "it takes " + join(allowed));
    }
    if (event_.stream >= traffic_->verbs.qps)
      complain("stream", fmt::format("\"{}\" has {} queue pairs, from 0", traffic_->name,
                                     traffic_->verbs.qps));
    if (traffic_->verbs.transport != Transport::rc && !judged_at_the_end(event_.kind))
      complain(kind,
               fmt::format("\"{}\" is no reliable connection: its packets are not followed",
                           traffic_->name),
               "transport: rc, or only completion, state and counter");
    if (judged_at_the_end(event_.kind))
      check_end();
    else
      check_packet(kind);
  }

  void check_packet(const std::string& kind)
  {
    auto classes = classes_of(*traffic_);
    classes.emplace_back("any");
    if (std::find(classes.begin(), classes.end(), event_.packet_class) == classes.end())
      complain(
          kind,
          fmt::format("\"{}\" sends no packets of class {}", traffic_->name, event_.packet_class),
          "its classes: " + join(classes));
    if (!event_.syndrome.empty() && event_.packet_class != "nak")
      complain("syndrome", "only a nak has a syndrome that is looked at", "packet: nak");
    if (event_.rnr_timer && event_.packet_class != "rnr")
      complain("rnr_timer", "only an RNR NAK carries a timer", "packet: rnr");
    constexpr std::uint64_t longest = 65'536;
    if (event_.number && event_.number->last - event_.number->first >= longest)
      complain("number", fmt::format("at most {} packets make an event", longest),
               "say where the range ends");
    if (event_.within_ns != 0 && event_.within_ns < event_.after_ns)
      complain("within", "it is to come later than this allows", "make within longer than after");
    check_host("from", event_.from);
    if (!event_.rule.empty()) check_rule_name();
  }

  void check_end()
  {
    if (event_.kind == EventKind::completion) return;
    if (event_.host.empty())
      complain(kind_name(), fmt::format("at which host this {} is stands nowhere", kind_name()),
               fmt::format("host: {} or host: {}", traffic_->from, traffic_->to));
    else
      check_host("host", event_.host);
    if (event_.kind == EventKind::counter && lab_.measure.warmup_ns != 0)
      complain("counter", "counters count from the window's begin, events from the traffic's",
               "measure: {warmup: 0ms, …}");
  }

  void check_host(std::string_view key, const std::string& host)
  {
    if (!host.empty() && host != traffic_->from && host != traffic_->to)
      complain(key, fmt::format("\"{}\" is no end of \"{}\"", host, traffic_->name),
               fmt::format("its ends: {}, {}", traffic_->from, traffic_->to));
  }

  void check_rule_name()
  {
    const auto same = [&](const Rule& rule) { return rule.name == event_.rule; };
    const auto rule = std::find_if(lab_.rules.begin(), lab_.rules.end(), same);
    if (rule == lab_.rules.end())
      complain("rule", fmt::format("there is no rule \"{}\"", event_.rule),
               "it has to stand in rules");
    else if (rule->traffic != traffic_->name)
      complain("rule",
               fmt::format("\"{}\" is about the packets of \"{}\"", rule->name, rule->traffic));
    if (!action_.empty()) complain("do", "a packet is hit by one rule", "leave do or rule out");
  }

  /// Makes a rule of what the event does.
  void act(std::size_t number)
  {
    if (action_.empty() || event_.kind != EventKind::packet) return;
    if (event_.transmission == 0 && event_.number) event_.transmission = 1;
    Rule rule;
    rule.name = fmt::format("event-{}", number);
    rule.kind = action_ == "drop"        ? RuleKind::drop
                : action_ == "duplicate" ? RuleKind::duplicate
                : action_ == "corrupt"   ? RuleKind::corrupt
                : action_ == "forge"     ? RuleKind::forge
                                         : RuleKind::mark;
    rule.traffic = event_.traffic;
    rule.stream = event_.stream;
    if (event_.packet_class != "any") rule.classes = {event_.packet_class};
    rule.opcode = event_.opcode;
    if (event_.number) rule.numbers = {*event_.number};
    if (event_.transmission != 0) rule.transmission = {event_.transmission, event_.transmission};
    rule.limit = event_.number ? event_.number->last - event_.number->first + 1 : 1;
    check_rule(reader_, node_, rule, lab_, traffic_, out_);
    event_.rule = rule.name;
    for (const Rule& other : lab_.rules)
      if (other.name == rule.name)
        complain("do",
                 fmt::format("the rule that this makes is called \"{}\", as another is", rule.name),
                 "call the other one something else");
    lab_.rules.push_back(std::move(rule));
  }

  [[nodiscard]] std::string kind_name() const
  {
    for (const auto& [name, kind] : event_kinds)
      if (kind == event_.kind) return std::string(name);
    return {};
  }

  void complain(std::string_view key, std::string message, std::string hint = {})
  {
    out_.add(reader_.place(key), std::move(message), std::move(hint));
  }

  const Node& node_;
  Lab& lab_;
  const Names& traffics_;
  Diagnostics& out_;
  Reader reader_;
  Event event_;
  std::string action_;
  const Traffic* traffic_ = nullptr;
};

} // namespace

void read_events(const Node& node, Lab& lab, const Names& traffics, Diagnostics& out)
{
  if (!node.sequence()) {
    out.add(node, fmt::format("events is a list, not {}", describe(node)),
            "for example - {packet: nak, number: 3}");
    return;
  }
  if (node.items.empty()) return;
  bool ended = false;
  for (const Node& item : node.items) {
    EventReader reader(item, lab, traffics, out);
    auto event = reader.read(lab.events.size() + 1);
    if (!event) continue;
    if (ended && !judged_at_the_end(event->kind))
      out.add(item, "packets come before what is judged when the traffic has ended",
              "move it up, before completion, state and counter");
    ended = ended || judged_at_the_end(event->kind);
    lab.events.push_back(std::move(*event));
  }
  lab.trace.on = true;
}

} // namespace rdmalab::lab
