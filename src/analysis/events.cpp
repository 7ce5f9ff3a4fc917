#include "analysis/events.h"

#include "analysis/sequence_label.h"
#include "analysis/words.h"
#include "base/json.h"
#include "wire/psn.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace rdmalab::analysis {

RDMALAB_JSON(EventResult, text, line, met, packet, time_ns, seen)
RDMALAB_JSON(ScriptResult, cell, certain, events)

namespace {

/// A packet where it entered the fabric.
struct Sent {
  const Passage* passage = nullptr;
  std::size_t flow = 0;
  std::int64_t psn = 0; ///< after the QP's first
  std::uint32_t transmission = 1;
};

std::string_view syndrome_name(const std::optional<wire::Syndrome>& syndrome)
{
  if (!syndrome || syndrome->kind != wire::Syndrome::Kind::nak) return {};
  switch (static_cast<wire::NakCode>(syndrome->value)) {
  case wire::NakCode::psn_sequence_error:
    return "sequence-error";
  case wire::NakCode::invalid_request:
    return "invalid-request";
  case wire::NakCode::remote_access_error:
    return "remote-access-error";
  case wire::NakCode::remote_operational_error:
    return "remote-operational-error";
  case wire::NakCode::invalid_rd_request:
    break;
  }
  return {};
}

class ScriptReader {
public:
  ScriptReader(const record::Cell& cell, const wire::Trace& trace, const TraceFlows& flows,
               const Timelines& timelines)
      : cell_(cell), trace_(trace), flows_(flows)
  {
    gather(timelines);
  }

  ScriptResult read(const std::vector<const lab::Event*>& events)
  {
    ScriptResult script;
    script.cell = cell_.id;
    script.certain = trace_.lost == 0;
    for (const lab::Event* event : events) {
      script.events.push_back({event->text, event->line, false, {}, {}, {}});
      EventResult& result = script.events.back();
      switch (event->kind) {
      case lab::EventKind::packet:
        packet(*event, result, script);
        break;
      case lab::EventKind::never:
        pending_.emplace_back(event, script.events.size() - 1);
        break;
      case lab::EventKind::completion:
        completion(*event, result);
        break;
      case lab::EventKind::state:
        state(*event, result);
        break;
      case lab::EventKind::counter:
        counter(*event, result);
        break;
      }
    }
    settle(sent_.size(), script);
    return script;
  }

private:
  /// All packets in the order in which they entered, with their transmission numbers.
  void gather(const Timelines& timelines)
  {
    std::map<std::tuple<std::size_t, bool, wire::PacketClass, std::uint32_t>, std::uint32_t> times;
    for (std::size_t flow = 0; flow < timelines.verbs.size(); ++flow) {
      const std::uint32_t base = flows_.verbs[flow].initiator_psn;
      for (const Sighting& s : timelines.verbs[flow].sightings) {
        if (s.arrival) continue;
        const Passage& p = timelines.verbs[flow].passages[s.passage];
        const std::uint32_t time = ++times[{flow, p.forward, p.packet_class, p.psn}];
        sent_.push_back({&p, flow, wire::psn_distance(base, p.psn), time});
      }
    }
    std::ranges::stable_sort(sent_, {}, [](const Sent& s) { return s.passage->entered; });
  }

  bool fits(const lab::Event& event, const Sent& sent, std::optional<std::int64_t> number) const
  {
    const Passage& p = *sent.passage;
    const VerbsFlow& flow = flows_.verbs[sent.flow];
    if (flow.traffic != event.traffic || flow.qp != event.stream) return false;
    if (event.packet_class != "any" && wire::to_string(p.packet_class) != event.packet_class)
      return false;
    if (!event.opcode.empty() && (p.opcode == nullptr || p.opcode->name != event.opcode))
      return false;
    if (number && sent.psn != *number) return false;
    if (!event.syndrome.empty() && syndrome_name(p.syndrome) != event.syndrome) return false;
    if (event.rnr_timer && (!p.syndrome || p.syndrome->value != *event.rnr_timer)) return false;
    if (event.transmission != 0 && sent.transmission != event.transmission) return false;
    if (!event.from.empty() && sender(sent) != event.from) return false;
    return event.rule.empty() || rule_of(p) == event.rule;
  }

  const std::string& sender(const Sent& sent) const
  {
    const VerbsFlow& flow = flows_.verbs[sent.flow];
    return sent.passage->forward ? flow.initiator : flow.target;
  }

  std::string_view rule_of(const Passage& p) const
  {
    if (p.rule == 0 || p.rule > trace_.rules.size()) return {};
    return trace_.rules[p.rule - 1U];
  }

  /// The first from `begin` on; sent_.size(): none.
  std::size_t find(const lab::Event& event, std::size_t begin,
                   std::optional<std::int64_t> number) const
  {
    for (std::size_t i = begin; i < sent_.size(); ++i)
      if (fits(event, sent_[i], number)) return i;
    return sent_.size();
  }

  void packet(const lab::Event& event, EventResult& result, ScriptResult& script)
  {
    if (broken_) return;
    const std::size_t begin = next_;
    std::vector<std::optional<std::int64_t>> numbers;
    if (!event.number) numbers.emplace_back();
    for (std::uint64_t n = event.number ? event.number->first : 1;
         event.number && n <= event.number->last; ++n)
      numbers.emplace_back(static_cast<std::int64_t>(n));
    std::size_t first = sent_.size();
    std::size_t at = sent_.size();
    for (const auto& number : numbers) {
      at = find(event, next_, number);
      if (at == sent_.size()) {
        broken_ = true;
        result.seen = instead(numbers.size() > 1 ? number : std::nullopt);
        return;
      }
      if (first == sent_.size()) first = at;
      next_ = at + 1;
    }
    const std::uint64_t before = begin == 0 ? 0 : sent_[begin - 1].passage->entered_ns;
    const std::uint64_t waited = sent_[first].passage->entered_ns - before;
    const Passage& last = *sent_[at].passage;
    result.packet = packet_number(last);
    result.time_ns = last.entered_ns;
    result.seen = words(sent_[at]);
    const auto words_of = [](std::uint64_t ns) { return time_words(static_cast<double>(ns)); };
    if (event.after_ns != 0 && waited < event.after_ns)
      result.seen += fmt::format("; too early, {} after the event before", words_of(waited));
    else if (event.within_ns != 0 && waited > event.within_ns)
      result.seen += fmt::format("; too late, {} after the event before", words_of(waited));
    else
      result.met = true;
    broken_ = !result.met;
    settle(first, script);
    settled_ = next_;
  }

  /// Judges the events of kind never before packet `end`.
  void settle(std::size_t end, ScriptResult& script)
  {
    for (const auto& [event, place] : std::exchange(pending_, {})) {
      EventResult& result = script.events[place];
      if (broken_ && end == sent_.size()) continue; // nobody knows how far it reaches
      std::size_t i = settled_;
      while (i < end && !unwanted(*event, sent_[i])) ++i;
      result.met = i == end;
      if (result.met) continue;
      result.packet = packet_number(*sent_[i].passage);
      result.time_ns = sent_[i].passage->entered_ns;
      result.seen = "there was one: " + words(sent_[i]);
      broken_ = true;
    }
  }

  bool unwanted(const lab::Event& event, const Sent& sent) const
  {
    if (!fits(event, sent, std::nullopt)) return false;
    return !event.number || (sent.psn >= static_cast<std::int64_t>(event.number->first) &&
                             static_cast<std::uint64_t>(sent.psn) <= event.number->last);
  }

  std::string words(const Sent& sent) const
  {
    const Passage& p = *sent.passage;
    std::string text = fmt::format("{} {} from {}", packet_label(p), sent.psn, sender(sent));
    if (p.syndrome && p.syndrome->kind != wire::Syndrome::Kind::ack)
      text += fmt::format(", {}", p.syndrome->text());
    if (sent.transmission > 1) text += fmt::format(", time {}", sent.transmission);
    if (p.rule != 0) text += fmt::format(", hit by {}", rule_of(p));
    return text;
  }

  /// What was seen after the event before, the missing packet's place.
  std::string instead(std::optional<std::int64_t> number) const
  {
    constexpr std::size_t most = 3;
    std::string text = number ? fmt::format("no packet {} fits", *number) : "no packet fits";
    if (next_ > 0)
      text += fmt::format(" after packet {} ({})", packet_number(*sent_[next_ - 1].passage),
                          words(sent_[next_ - 1]));
    if (next_ == sent_.size()) return text + ", which was the last";
    std::vector<std::string> following;
    for (std::size_t i = next_; i < sent_.size() && following.size() < most; ++i)
      following.push_back(words(sent_[i]));
    return text + fmt::format("; then came {}", fmt::join(following, "; "));
  }

  const record::Flow* flow_of(const std::string& traffic) const
  {
    const auto same = [&](const record::Flow& f) { return f.traffic == traffic; };
    const auto found = std::ranges::find_if(cell_.flows, same);
    return found == cell_.flows.end() ? nullptr : &*found;
  }

  static void count(const lab::Event& event, std::uint64_t value, EventResult& result)
  {
    result.met = event.count ? value == *event.count : value > 0;
    result.seen = count_words(value);
  }

  void completion(const lab::Event& event, EventResult& result) const
  {
    const record::Flow* flow = flow_of(event.traffic);
    if (flow == nullptr) return;
    const auto found = flow->completions.find(event.word);
    count(event, found == flow->completions.end() ? 0 : found->second, result);
    if (result.met) return;
    for (const auto& [status, number] : flow->completions)
      result.seen += fmt::format(", {} of {}", number, status);
  }

  void state(const lab::Event& event, EventResult& result) const
  {
    const record::Flow* flow = flow_of(event.traffic);
    if (flow == nullptr) return;
    const auto found = flow->qp_states.find(fmt::format("{} {}", event.host, event.stream));
    if (found == flow->qp_states.end()) {
      result.seen = "nobody could ask";
      return;
    }
    result.met = found->second == event.word;
    result.seen = found->second;
  }

  void counter(const lab::Event& event, EventResult& result) const
  {
    for (const record::Counters& c : cell_.counters) {
      if (c.host != event.host) continue;
      for (const auto* counters : {&c.rdma, &c.device}) {
        const auto found = counters->find(event.word);
        if (found != counters->end()) return count(event, found->second, result);
      }
    }
    result.seen = "the kernel has no such counter";
  }

  const record::Cell& cell_;
  const wire::Trace& trace_;
  const TraceFlows& flows_;
  std::vector<Sent> sent_;
  std::size_t next_ = 0;    ///< behind the packet of the last event
  std::size_t settled_ = 0; ///< the same, for the events of kind never
  bool broken_ = false;
  std::vector<std::pair<const lab::Event*, std::size_t>> pending_;
};

} // namespace

const EventResult* ScriptResult::broken() const
{
  const auto found = std::ranges::find_if(events, [](const EventResult& e) { return !e.met; });
  return found == events.end() ? nullptr : &*found;
}

std::optional<ScriptResult> follow_events(const lab::Lab& lab, const record::Cell& cell,
                                          const wire::Trace& trace, const TraceFlows& flows,
                                          const Timelines& timelines)
{
  std::vector<const lab::Event*> events;
  for (const lab::Event& event : lab.events)
    if (std::ranges::find(cell.traffic, event.traffic) != cell.traffic.end())
      events.push_back(&event);
  if (events.empty()) return std::nullopt;
  return ScriptReader(cell, trace, flows, timelines).read(events);
}

} // namespace rdmalab::analysis
