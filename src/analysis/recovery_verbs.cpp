#include "analysis/episode_book.h"
#include "analysis/recovery_walk.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace rdmalab::analysis {
namespace {

using wire::PacketClass;

/// Requester and responder of one direction of a QP, followed through the trace.
class VerbsWalk {
public:
  VerbsWalk(const wire::Trace& trace, const TraceFlows& flows, const VerbsFlow& flow,
            const Timeline& timeline, bool initiator_asks)
      : trace_(trace), flow_(flow), timeline_(timeline), asks_(initiator_asks),
        base_(initiator_asks ? flow.initiator_psn : flow.target_psn), book_(trace, flows, timeline)
  {
    FlowRecovery& r = book_.recovery();
    r.traffic = flow.traffic;
    r.transport = "rc";
    r.flow = flow.qp;
    r.sender = asks_ ? flow.initiator : flow.target;
    r.receiver = asks_ ? flow.target : flow.initiator;
  }

  FlowHistory run()
  {
    for (const Sighting& s : timeline_.sightings) {
      const Passage& p = timeline_.passages[s.passage];
      if (is_request(p) && p.forward == asks_)
        s.arrival ? request_arrived(s.passage, p) : request_entered(s.passage, p);
      else if (started_ && is_response(p) && p.forward != asks_)
        s.arrival ? response_arrived(s.passage, p) : response_entered(s.passage, p);
    }
    return book_.finish(!started_);
  }

private:
  static bool is_request(const Passage& p)
  {
    return p.packet_class == PacketClass::data || p.packet_class == PacketClass::read_request ||
           p.packet_class == PacketClass::atomic;
  }
  static bool carries_result(const Passage& p)
  {
    return p.packet_class == PacketClass::read_response ||
           p.packet_class == PacketClass::atomic_ack;
  }
  static bool is_response(const Passage& p)
  {
    return carries_result(p) || p.packet_class == PacketClass::ack ||
           p.packet_class == PacketClass::nak || p.packet_class == PacketClass::rnr;
  }

  std::int64_t relative(std::uint32_t psn) const
  {
    return next_ + wire::psn_distance(wire::psn_add(base_, next_), psn);
  }
  /// The first PSN whose result the requester waits for.
  std::int64_t awaited() const { return results_.front().first; }

  std::size_t add_loss(const Passage& p, std::int64_t psn, std::uint32_t transmission)
  {
    return book_.lost(p, std::string(wire::to_string(p.packet_class)), psn, transmission);
  }

  // ---- requester sends, responder receives

  void start(std::int64_t psn)
  {
    if (std::exchange(started_, true)) return;
    book_.recovery().from_start = psn == 0;
    next_ = expected_ = acknowledged_ = last_end_ = psn;
  }

  void request_entered(std::size_t id, const Passage& p)
  {
    const std::int64_t psn = relative(p.psn);
    start(psn);
    const bool again = psn < next_;
    if (acknowledged_ == next_) armed_ns_ = p.entered_ns; // nothing was under way
    if (again && psn < last_end_) begin_round(p, psn);
    const std::uint32_t transmission = book_.sent(requests_, id, psn, again);
    if (!again && p.packet_class != PacketClass::data) results_.emplace_back(psn, psn + p.span);
    last_end_ = psn + p.span;
    next_ = std::max(next_, last_end_);
    active_ns_ = p.entered_ns;
    if (!p.missed()) return;
    const std::size_t loss = add_loss(p, psn, transmission);
    if (psn + p.span > expected_) book_.lose(loss);
  }

  void begin_round(const Passage& p, std::int64_t psn)
  {
    const std::uint64_t quiet = p.entered_ns - active_ns_;
    Round round{Trigger::unknown, packet_number(p), psn, p.entered_ns, quiet};
    const bool timed_out =
        flow_.ack_timeout_ns > 0 && p.entered_ns - armed_ns_ >= flow_.ack_timeout_ns / 2;
    std::optional<Reveal> reveal = std::exchange(reveal_, {});
    const bool ignored = timed_out && reveal && reveal->trigger != Trigger::rnr;
    if (timed_out && (!reveal || ignored))
      round.trigger = Trigger::timer;
    else if (reveal)
      round.trigger = reveal->trigger;
    if (ignored) reveal.reset();
    book_.begin_round(round, reveal, p, next_);
    if (ignored) ++book_.episode().naks_ignored;
  }

  void request_arrived(std::size_t id, const Passage& p)
  {
    const std::int64_t psn = relative(p.psn);
    start(psn);
    if (!p.read()) return icrc_drop();
    now_ = p.arrived_ns;
    next_ = std::max(next_, psn + p.span); // only if it was not seen entering
    if (psn == expected_) {
      book_.received(id, Outcome::accepted);
      last_accepted_ = id;
      expected_ += p.span;
      gap_ns_.reset();
    } else if (psn > expected_) {
      book_.received(id, Outcome::thrown_away);
      if (!gap_ns_) reveal_gap(p);
    } else {
      book_.received(id, Outcome::duplicate);
    }
    try_close();
  }

  void reveal_gap(const Passage& p)
  {
    gap_ns_ = p.arrived_ns;
    if (book_.is_open()) return;
    const auto missing = requests_.find(expected_);
    if (missing != requests_.end()) overtaken(missing->second.first, expected_);
  }

  /// A packet that is not lost comes behind later ones.
  void overtaken(std::size_t id, std::int64_t psn)
  {
    const Passage& late = timeline_.passages[id];
    const bool by_rule = late.rule != 0 && late.rule <= trace_.rules.size();
    book_.open(by_rule ? trace_.rules[late.rule - 1U] : "reordered", late, psn);
  }

  // ---- responder answers, requester learns

  void response_entered(std::size_t id, const Passage& p)
  {
    const std::int64_t psn = relative(p.psn);
    if (p.packet_class == PacketClass::nak || p.packet_class == PacketClass::rnr) answer(p, psn);
    std::uint32_t transmission = 1;
    if (carries_result(p)) {
      transmission = book_.sent(sent_results_, id, psn, psn < results_next_);
      results_next_ = std::max(results_next_, psn + 1);
    }
    if (!p.missed()) return;
    const std::size_t loss = add_loss(p, psn, transmission);
    if (carries_result(p)) {
      if (!results_.empty() && psn >= awaited()) book_.lose(loss);
    } else if (p.packet_class != PacketClass::ack) {
      book_.lost_answer(loss);
    } else if (psn >= acknowledged_) {
      book_.lost_ack(loss);
    }
  }

  void answer(const Passage& p, std::int64_t psn)
  {
    const bool nak = p.packet_class == PacketClass::nak;
    if (!nak) {
      // The request is as if it had not come, and has to come again without any loss.
      expected_ = std::min(expected_, psn);
      book_.received(last_accepted_, Outcome::thrown_away);
      if (!book_.is_open()) book_.open("receiver not ready", p, psn);
    }
    if (!book_.is_open()) return;
    Episode& e = book_.episode();
    const std::string kind(wire::to_string(p.packet_class));
    if (e.answers.empty()) e.answer = kind;
    e.answers.push_back({kind, packet_number(p), psn, p.entered_ns,
                         p.read() ? std::optional(p.arrived_ns) : std::nullopt});
    if (nak && gap_ns_ && !e.nak_generation_ns) e.nak_generation_ns = p.entered_ns - *gap_ns_;
  }

  void response_arrived(std::size_t id, const Passage& p)
  {
    if (!p.read()) return icrc_drop();
    now_ = armed_ns_ = p.arrived_ns;
    const std::int64_t psn = relative(p.psn);
    if (carries_result(p)) {
      take_result(id, psn);
    } else if (p.packet_class == PacketClass::ack) {
      // An ACK beyond a result that isn't there yet implies that this was lost.
      if (!results_.empty() && psn >= awaited()) imply_nak();
      acknowledge(psn + 1);
    } else {
      acknowledge(psn);
      reveal_ = {p.packet_class == PacketClass::nak ? Trigger::nak : Trigger::rnr, now_};
    }
    try_close();
  }

  void take_result(std::size_t id, std::int64_t psn)
  {
    if (results_.empty() || psn < awaited()) return book_.received(id, Outcome::duplicate);
    if (psn > awaited()) {
      book_.received(id, Outcome::thrown_away);
      return imply_nak();
    }
    book_.received(id, Outcome::accepted);
    if (++results_.front().first == results_.front().second) results_.pop_front();
    implied_ = false;
    acknowledge(psn + 1);
  }

  /// IB specification vol. 1, 9.7.6: the requester asks again without having been told. Once until
  /// the missing result comes, as with a NAK.
  void imply_nak()
  {
    if (std::exchange(implied_, true)) return;
    reveal_ = {Trigger::implied_nak, now_};
    if (!book_.is_open()) {
      const auto missing = sent_results_.find(awaited());
      if (missing == sent_results_.end()) return;
      overtaken(missing->second.first, awaited());
    }
    Episode& e = book_.episode();
    if (e.answers.empty()) e.answer = "later response";
  }

  void acknowledge(std::int64_t up_to)
  {
    if (!results_.empty()) up_to = std::min(up_to, awaited());
    if (up_to <= acknowledged_) return;
    acknowledged_ = up_to;
    active_ns_ = now_;
    book_.acknowledged(acknowledged_);
  }

  void try_close()
  {
    // A NAK that is under way will make the requester go back, even if the packet has come late.
    if (!book_.is_open() || book_.answer_pending()) return;
    const std::int64_t goal = book_.goal();
    if (expected_ < goal || (!results_.empty() && awaited() < goal)) return;
    if (book_.needs_ack() && acknowledged_ < goal) return;
    book_.close(now_, [&](const Loss& l) {
      const bool result = l.kind == "read-response" || l.kind == "atomic-ack";
      return result ? !results_.empty() && l.position >= awaited() : l.position >= expected_;
    });
  }

  void icrc_drop() { ++book_.recovery().icrc_drops; }

  const wire::Trace& trace_;
  const VerbsFlow& flow_;
  const Timeline& timeline_;
  const bool asks_;
  const std::uint32_t base_;
  EpisodeBook book_;
  bool started_ = false;
  std::uint64_t now_ = 0;

  std::int64_t next_ = 0;         ///< requester: behind the highest PSN that was sent
  std::int64_t last_end_ = 0;     ///< requester: behind the request that was sent last
  std::int64_t acknowledged_ = 0; ///< requester: all before
  std::deque<std::pair<std::int64_t, std::int64_t>> results_; ///< requester: PSNs it waits for
  bool implied_ = false;         ///< requester: a NAK was implied for the first of them
  std::optional<Reveal> reveal_; ///< requester: why it will go back
  std::uint64_t active_ns_ = 0;  ///< requester: sent something or learned something new
  /// Requester: when the ACK timer began. rxe sets it anew after every response, not after what it
  /// sends (rxe_comp.c, COMPST_EXIT), and counts in ticks, so that half the time-out is enough.
  std::uint64_t armed_ns_ = 0;
  std::int64_t expected_ = 0;     ///< responder
  std::int64_t results_next_ = 0; ///< responder: behind the highest PSN that it sent a result for
  std::size_t last_accepted_ = 0; ///< responder: passage
  std::optional<std::uint64_t> gap_ns_; ///< responder: when the gap was revealed
  EpisodeBook::Transmissions requests_;
  EpisodeBook::Transmissions sent_results_;
};

} // namespace

FlowHistory follow_verbs(const wire::Trace& trace, const TraceFlows& flows, const VerbsFlow& flow,
                         const Timeline& timeline, bool initiator_asks)
{
  return VerbsWalk(trace, flows, flow, timeline, initiator_asks).run();
}

} // namespace rdmalab::analysis
