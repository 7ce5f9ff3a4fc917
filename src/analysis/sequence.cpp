#include "analysis/sequence.h"

#include "analysis/recovery_walk.h"
#include "analysis/sequence_label.h"
#include "analysis/timeline.h"
#include "analysis/words.h"
#include "base/json.h"

#include <algorithm>
#include <array>
#include <deque>
#include <unordered_map>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::analysis {

RDMALAB_JSON(SequenceStep, to_right, label, note, first, last, packets, number, sent_ns,
             last_sent_ns, arrived_ns, last_arrived_ns, again, thrown_away, lost_to, stale_icrc)
RDMALAB_JSON(Sequence, title, left, right, summary, begin_ns, steps)

namespace {

std::string time_since(std::uint64_t ns)
{
  return time_words(static_cast<double>(ns));
}

/// Makes the steps of one episode.
class Sequencer {
public:
  /// `rightwards`: the flow's sender stands left. `base`: its first PSN or sequence number.
  Sequencer(const wire::Trace& trace, const TraceFlows& flows, const Timeline& timeline,
            const Episode& episode, bool rightwards, std::uint32_t base)
      : trace_(trace), flows_(flows), timeline_(timeline), episode_(episode),
        rightwards_(rightwards), base_(base)
  {}

  std::vector<SequenceStep> steps()
  {
    for (const Sighting& s : timeline_.sightings) see(s);
    std::ranges::stable_sort(shown_, {}, [](const Shown& s) { return s.left_ns; });
    // One packet before the loss gives it its place.
    while (shown_.size() > 1 && shown_[1].step.number < episode_.packet)
      shown_.erase(shown_.begin());
    for (Shown& s : shown_) add(std::move(s.step));
    return std::move(steps_);
  }

private:
  struct Shown {
    std::int64_t left_ns = 0;
    SequenceStep step;
  };

  [[nodiscard]] std::int64_t since_begin(std::uint64_t ns) const
  {
    return static_cast<std::int64_t>(ns) - static_cast<std::int64_t>(episode_.begin_ns);
  }
  static bool rc(const Passage& p) { return p.opcode != nullptr; }
  static bool result(const Passage& p)
  {
    return p.packet_class == wire::PacketClass::read_response ||
           p.packet_class == wire::PacketClass::atomic_ack;
  }
  static bool request(const Passage& p)
  {
    return p.packet_class == wire::PacketClass::data ||
           p.packet_class == wire::PacketClass::read_request ||
           p.packet_class == wire::PacketClass::atomic;
  }

  std::int64_t position(const Passage& p) const
  {
    if (rc(p)) return next_ + wire::psn_distance(wire::psn_add(base_, next_), p.psn);
    const std::uint32_t number = p.forward == rightwards_ ? p.tcp.sequence : p.tcp.acknowledgement;
    return next_ + static_cast<std::int32_t>(number - base_ - static_cast<std::uint32_t>(next_));
  }

  /// Follows the flow from its beginning, to know what was sent before and what was expected.
  void see(const Sighting& s)
  {
    const Passage& p = timeline_.passages[s.passage];
    const bool ours = p.forward == rightwards_;
    // The other end's own requests and data are another direction of the flow.
    if (rc(p) ? ours != request(p) : !ours && p.payload > 0) return;
    const std::int64_t at = position(p);
    const bool carries = ours || result(p);
    if (!s.arrival) {
      const bool again = carries && (p.payload > 0 || rc(p)) && at < (ours ? next_ : results_next_);
      const bool asks = ours && rc(p) && p.packet_class != wire::PacketClass::data;
      if (asks && !again) awaited_.emplace_back(at, at + p.span);
      if (ours) next_ = std::max(next_, at + (rc(p) ? p.span : p.payload));
      if (!ours && carries) results_next_ = std::max(results_next_, at + 1);
      if (p.entered_ns + lead_ns < episode_.begin_ns) return;
      if (episode_.end_ns && p.entered_ns > *episode_.end_ns) return;
      show(s.passage, p, at, again);
      return;
    }
    if (!rc(p) || !p.read()) return;
    bool early = false;
    if (ours && at == expected_)
      expected_ += p.span;
    else if (ours)
      early = at > expected_;
    else if (result(p))
      early = !take_result(at);
    if (const auto shown = index_.find(s.passage); early && shown != index_.end())
      shown_[shown->second].step.thrown_away = true;
  }

  /// A result in order, or one that was there before; false: one before it is missing.
  bool take_result(std::int64_t at)
  {
    if (awaited_.empty() || at < awaited_.front().first) return true;
    if (at > awaited_.front().first) return false;
    if (++awaited_.front().first == awaited_.front().second) awaited_.pop_front();
    return true;
  }

  void show(std::size_t id, const Passage& p, std::int64_t at, bool again)
  {
    SequenceStep step;
    step.to_right = p.forward;
    step.label = rc(p) ? packet_label(p) : p.payload > 0 ? "data" : "ACK";
    step.first = step.last = at;
    step.number = packet_number(p);
    step.sent_ns = step.last_sent_ns = since_begin(p.entered_ns);
    if (p.arrived != nowhere) step.arrived_ns = step.last_arrived_ns = since_begin(p.arrived_ns);
    step.again = again;
    if (p.missed()) step.lost_to = cause_of(trace_, flows_, p);
    step.stale_icrc = p.fate == Fate::stale;
    if (p.packet_class == wire::PacketClass::nak && p.syndrome)
      step.note = p.syndrome->text().substr(p.syndrome->text().find(' ') + 1);
    if (p.packet_class == wire::PacketClass::rnr && p.syndrome)
      step.note = "wait " + time_since(p.syndrome->rnr_timer_ns());
    if (!p.tcp.sack.empty())
      step.note = fmt::format("SACK {}-{}", relative_sack(p.tcp.sack.front().first),
                              relative_sack(p.tcp.sack.front().second));
    index_[id] = shown_.size();
    const bool seen_left = p.forward || !step.arrived_ns;
    shown_.push_back({seen_left ? step.sent_ns : *step.arrived_ns, std::move(step)});
  }

  std::int64_t relative_sack(std::uint32_t number) const
  {
    return next_ + static_cast<std::int32_t>(number - base_ - static_cast<std::uint32_t>(next_));
  }

  /// Puts a packet on the run before it in its direction, unless something of note lies between.
  void add(SequenceStep step)
  {
    const bool of_note = !step.lost_to.empty() || step.label.ends_with("NAK");
    std::size_t& run = runs_.at(step.to_right);
    if (run != nowhere && !of_note && goes_on(steps_[run], step)) {
      SequenceStep& s = steps_[run];
      ++s.packets;
      s.last = step.last;
      s.last_sent_ns = step.last_sent_ns;
      s.last_arrived_ns = step.last_arrived_ns;
      if (s.label != step.label) s.label = s.label.substr(0, s.label.find_last_of(' '));
      if (!step.label.starts_with(s.label)) s.label = step.label;
      s.note = step.note;
      return;
    }
    if (of_note || step.again) runs_ = {nowhere, nowhere};
    runs_.at(step.to_right) = of_note ? nowhere : steps_.size();
    steps_.push_back(std::move(step));
  }

  static std::string_view kind(const SequenceStep& s)
  {
    const std::string_view label = s.label;
    return label.substr(0, label.find(' '));
  }
  static bool goes_on(const SequenceStep& run, const SequenceStep& step)
  {
    return kind(run) == kind(step) && run.again == step.again &&
           run.thrown_away == step.thrown_away && run.note.empty() == step.note.empty() &&
           run.arrived_ns.has_value() && step.arrived_ns.has_value() && step.first >= run.last;
  }

  /// How long before the first loss the packet before it may have entered, ns.
  static constexpr std::uint64_t lead_ns = 1'000'000;

  const wire::Trace& trace_;
  const TraceFlows& flows_;
  const Timeline& timeline_;
  const Episode& episode_;
  const bool rightwards_;
  const std::uint32_t base_;
  std::int64_t next_ = 0;
  std::int64_t expected_ = 0;
  std::int64_t results_next_ = 0;
  std::deque<std::pair<std::int64_t, std::int64_t>> awaited_; ///< PSNs of results
  std::unordered_map<std::size_t, std::size_t> index_;        ///< passage to its place in shown_
  std::vector<Shown> shown_;
  std::array<std::size_t, 2> runs_{nowhere, nowhere}; ///< the last run, by direction
  std::vector<SequenceStep> steps_;
};

/// Where a stream's sequence numbers begin: behind the SYN, otherwise at the first data.
std::uint32_t first_sequence(const Timeline& timeline, bool forward)
{
  for (const Sighting& s : timeline.sightings) {
    const Passage& p = timeline.passages[s.passage];
    if (p.forward != forward) continue;
    if ((p.tcp.flags & wire::tcp_syn) != 0) return p.tcp.sequence + 1;
    if (p.payload > 0) return p.tcp.sequence;
  }
  return 0;
}

template <typename Flow> std::size_t index_of(const std::vector<Flow>& flows, auto matches)
{
  const auto at = std::ranges::find_if(flows, matches);
  return at == flows.end() ? nowhere : static_cast<std::size_t>(at - flows.begin());
}

} // namespace

std::string again_words(const Episode& episode)
{
  if (episode.packets_again == 0) return "nothing sent again";
  std::string text =
      fmt::format("{} packet{}, {} bytes, sent again", count_words(episode.packets_again),
                  episode.packets_again == 1 ? "" : "s", count_words(episode.bytes_again));
  std::vector<std::string> needless;
  if (episode.packets_thrown_away > 0)
    needless.push_back(
        fmt::format("{} had come and were thrown away", count_words(episode.packets_thrown_away)));
  if (episode.packets_already_there > 0)
    needless.push_back(
        fmt::format("{} were already there", count_words(episode.packets_already_there)));
  if (!needless.empty()) text += ", of which " + fmt::format("{}", fmt::join(needless, " and "));
  return text;
}

std::string episode_words(const Episode& episode)
{
  if (!episode.recover_ns) return "not recovered when the trace ends; " + again_words(episode);
  return fmt::format("recovered by {} after {}; {}", trigger_words(episode.by),
                     time_since(*episode.recover_ns), again_words(episode));
}

std::optional<Sequence> episode_sequence(const wire::Trace& trace, const TraceFlows& flows,
                                         const RecoveryReport& report, std::size_t flow,
                                         std::size_t episode)
{
  return episode_sequence(trace, flows, sort_trace(trace, flows), report, flow, episode);
}

std::optional<Sequence> episode_sequence(const wire::Trace& trace, const TraceFlows& flows,
                                         const Timelines& timelines, const RecoveryReport& report,
                                         std::size_t flow, std::size_t episode)
{
  if (flow >= report.flows.size() || episode >= report.flows[flow].episodes.size()) return {};
  const FlowRecovery& f = report.flows[flow];
  const Episode& e = f.episodes[episode];
  Sequence result;
  const auto same = [&](const auto& known, std::uint32_t index) {
    return known.traffic == f.traffic && index == f.flow;
  };
  const Timeline* timeline = nullptr;
  bool rightwards = true;
  std::uint32_t base = 0;
  if (f.transport == "rc") {
    const std::size_t at = index_of(flows.verbs, [&](const VerbsFlow& v) { return same(v, v.qp); });
    if (at == nowhere) return {};
    const VerbsFlow& v = flows.verbs[at];
    timeline = &timelines.verbs[at];
    result.left = v.initiator;
    result.right = v.target;
    rightwards = f.sender == v.initiator;
    base = rightwards ? v.initiator_psn : v.target_psn;
  } else {
    const std::size_t at = index_of(flows.tcp, [&](const TcpFlow& t) { return same(t, t.stream); });
    if (at == nowhere) return {};
    const TcpFlow& t = flows.tcp[at];
    timeline = &timelines.tcp[at];
    result.left = t.client;
    result.right = t.server;
    rightwards = f.sender == t.client;
    base = first_sequence(*timeline, rightwards);
  }
  result.title =
      fmt::format("{}, {} {}: {} {}{}{}", f.traffic, f.transport == "rc" ? "QP" : "stream", f.flow,
                  e.kind, e.position, e.losses > 0 ? " lost to " : ", ", e.cause);
  result.summary = episode_words(e);
  result.begin_ns = e.begin_ns;
  result.steps = Sequencer(trace, flows, *timeline, e, rightwards, base).steps();
  return result;
}

std::optional<std::pair<std::size_t, std::size_t>> telling_episode(const RecoveryReport& report)
{
  std::optional<std::pair<std::size_t, std::size_t>> first;
  for (std::size_t f = 0; f < report.flows.size(); ++f)
    for (std::size_t e = 0; e < report.flows[f].episodes.size(); ++e) {
      const Episode& episode = report.flows[f].episodes[e];
      if (episode.rounds.empty()) continue;
      if (is_timer(episode.by)) return std::pair{f, e};
      if (!first) first = {f, e};
    }
  return first;
}

} // namespace rdmalab::analysis
