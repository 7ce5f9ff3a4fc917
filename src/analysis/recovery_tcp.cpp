#include "analysis/episode_book.h"
#include "analysis/interval_set.h"
#include "analysis/recovery_walk.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace rdmalab::analysis {
namespace {

/// Linux' least RTO (net/tcp.h, TCP_RTO_MIN): a probe comes earlier, a timeout does not.
constexpr std::uint64_t rto_min_ns = 200'000'000;
/// Linux' timers in ticks of 4 ms, of which RACK and the probe add two (TCP_TIMEOUT_MIN).
constexpr std::uint64_t timer_slack_ns = 10'000'000;

/// The data of one end of a TCP stream, followed through the trace. Sequence numbers are relative
/// to the first byte of data.
class TcpWalk {
public:
  TcpWalk(const wire::Trace& trace, const TraceFlows& flows, const TcpFlow& flow,
          const Timeline& timeline, bool from_client)
      : timeline_(timeline), client_(from_client), book_(trace, flows, timeline)
  {
    FlowRecovery& r = book_.recovery();
    r.traffic = flow.traffic;
    r.transport = "tcp";
    r.flow = flow.stream;
    r.sender = client_ ? flow.client : flow.server;
    r.receiver = client_ ? flow.server : flow.client;
  }

  FlowHistory run()
  {
    for (const Sighting& s : timeline_.sightings) {
      const Passage& p = timeline_.passages[s.passage];
      if (p.forward == client_) {
        if (!base_ && (p.tcp.flags & wire::tcp_syn) != 0) base_ = p.tcp.sequence + 1;
        if (p.payload > 0) s.arrival ? data_arrived(s.passage, p) : data_entered(s.passage, p);
      } else if (started_ && (p.tcp.flags & wire::tcp_ack) != 0) {
        s.arrival ? ack_arrived(p) : ack_entered(p);
      }
    }
    return book_.finish(!started_);
  }

private:
  /// Sequence numbers wrap at 2^32.
  std::int64_t relative(std::uint32_t sequence) const
  {
    const auto near = *base_ + static_cast<std::uint32_t>(next_);
    return next_ + static_cast<std::int32_t>(sequence - near);
  }

  void start(const Passage& p)
  {
    if (std::exchange(started_, true)) return;
    book_.recovery().from_start = base_.has_value();
    if (!base_) base_ = p.tcp.sequence;
  }

  // ---- data

  void data_entered(std::size_t id, const Passage& p)
  {
    start(p);
    const std::int64_t begin = relative(p.tcp.sequence);
    const std::int64_t end = begin + p.payload;
    const bool again = begin < next_;
    if (again && goes_back(p, begin)) begin_round(p, begin, end);
    const std::uint32_t transmission = book_.sent(sent_, id, begin, again);
    if (again) last_again_ = end;
    if (!again) timed_.emplace_back(end, p.entered_ns);
    next_ = std::max(next_, end);
    active_ns_ = p.entered_ns;
    if (!p.missed()) return;
    const std::size_t loss = book_.lost(p, "data", begin, transmission);
    if (!has_.contains(begin, end)) book_.lose(loss);
  }

  /// The first retransmission of an episode, one before the last one, or one after silence.
  bool goes_back(const Passage& p, std::int64_t begin)
  {
    if (!book_.is_open() || book_.episode().rounds.empty()) return true;
    return begin < last_again_ || p.entered_ns - active_ns_ >= probe_after();
  }

  /// A tail-loss probe comes two round-trip times after silence set in (RFC 8985, 7.2).
  std::uint64_t probe_after() const { return rtt_ns_ == 0 ? rto_min_ns : 2 * rtt_ns_; }

  void begin_round(const Passage& p, std::int64_t begin, std::int64_t end)
  {
    const std::uint64_t quiet = p.entered_ns - active_ns_;
    const Round round{classify(begin, end, quiet), packet_number(p), begin, p.entered_ns, quiet};
    std::optional<Reveal> reveal;
    if (sign_ns_ && round.trigger == Trigger::fast_retransmit)
      reveal = Reveal{round.trigger, *sign_ns_};
    book_.begin_round(round, reveal, p, next_);
    // All that was in flight may be sent again from here on, whatever was timed.
    timed_.clear();
  }

  /// What made the sender send [begin, end) again:
  ///  fast retransmit  acknowledgements told of data behind it (SACK, duplicates), lately: within
  ///                   a round-trip time and a quarter (RACK's reordering window) and two ticks
  ///  tail-loss probe  it is the last segment, and either not the first that is missing, or sent
  ///                   sooner than an RTO may come
  ///  RTO              it is the first that is missing, after silence
  Trigger classify(std::int64_t begin, std::int64_t end, std::uint64_t quiet) const
  {
    const bool told = highest_sacked_ > begin || duplicates_ > 0;
    if (told && quiet <= rtt_ns_ + rtt_ns_ / 4 + timer_slack_ns) return Trigger::fast_retransmit;
    const bool first = begin <= acknowledged_;
    const bool tail = end == next_;
    if (tail && quiet >= std::min(probe_after(), rto_min_ns) && (!first || quiet < rto_min_ns))
      return Trigger::tail_probe;
    if (first && quiet >= rtt_ns_ && quiet >= timer_slack_ns) return Trigger::rto;
    return Trigger::unknown;
  }

  void data_arrived(std::size_t id, const Passage& p)
  {
    start(p);
    if (!p.read()) return;
    const std::int64_t begin = relative(p.tcp.sequence);
    const std::int64_t end = begin + p.payload;
    next_ = std::max(next_, end); // only if it was not seen entering
    book_.received(id, has_.add(begin, end) ? Outcome::accepted : Outcome::duplicate);
    expected_ = has_.reaches(expected_);
    has_.drop_before(expected_);
    if (end > expected_) {
      if (!gap_ns_) gap_ns_ = p.arrived_ns;
    } else {
      gap_ns_.reset();
    }
    try_close(p.arrived_ns);
  }

  // ---- acknowledgements

  void ack_entered(const Passage& p)
  {
    const std::int64_t ack = relative(p.tcp.acknowledgement);
    if (gap_ns_ && book_.is_open() && !book_.episode().nak_generation_ns && ack <= expected_)
      book_.episode().nak_generation_ns = p.entered_ns - *gap_ns_;
    if (!p.missed() || p.payload > 0) return;
    const std::size_t loss = book_.lost(p, "ack", ack - 1, 1); // the last byte that it told of
    if (ack > acknowledged_) book_.lost_ack(loss);
  }

  void ack_arrived(const Passage& p)
  {
    if (!p.read()) return;
    const std::int64_t ack = relative(p.tcp.acknowledgement);
    active_ns_ = p.arrived_ns;
    if (ack > acknowledged_) {
      acknowledged_ = ack;
      duplicates_ = 0;
      sign_ns_.reset();
      measure(p.arrived_ns);
      book_.acknowledged(ack);
    } else if (ack == acknowledged_ && p.payload == 0 && acknowledged_ < next_) {
      ++duplicates_;
    }
    for (const auto& [left, right] : p.tcp.sack)
      // A block below the acknowledgement tells of a duplicate (RFC 2883), not of a gap.
      if (relative(left) >= ack) highest_sacked_ = std::max(highest_sacked_, relative(right));
    if ((highest_sacked_ > acknowledged_ || duplicates_ > 0) && !sign_ns_) show_sign(p.arrived_ns);
    try_close(p.arrived_ns);
  }

  void show_sign(std::uint64_t now_ns)
  {
    sign_ns_ = now_ns;
    if (!book_.is_open() || book_.episode().answer != "silence") return;
    book_.episode().answer = highest_sacked_ > acknowledged_ ? "sack" : "dupack";
  }

  /// A round-trip time from data that was sent once, smoothed as in RFC 6298.
  void measure(std::uint64_t now_ns)
  {
    std::optional<std::uint64_t> sample;
    while (!timed_.empty() && timed_.front().first <= acknowledged_) {
      sample = now_ns - timed_.front().second;
      timed_.pop_front();
    }
    if (sample) rtt_ns_ = rtt_ns_ == 0 ? *sample : (7 * rtt_ns_ + *sample) / 8;
  }

  void try_close(std::uint64_t now_ns)
  {
    if (!book_.is_open() || expected_ < book_.goal()) return;
    if (book_.needs_ack() && acknowledged_ < book_.goal()) return;
    book_.close(now_ns, [&](const Loss& l) {
      return !has_.contains(l.position, l.position + l.payload) && l.position >= expected_;
    });
  }

  const Timeline& timeline_;
  const bool client_;
  EpisodeBook book_;
  bool started_ = false;
  std::optional<std::uint32_t> base_; ///< sequence number of the first byte

  std::int64_t next_ = 0;         ///< sender: behind the highest that was sent
  std::int64_t last_again_ = 0;   ///< sender: the end of the last retransmission
  std::int64_t acknowledged_ = 0; ///< sender
  std::int64_t highest_sacked_ = 0;
  std::uint32_t duplicates_ = 0;         ///< acknowledgements since the last one that moved on
  std::optional<std::uint64_t> sign_ns_; ///< sender: first told of a gap
  std::uint64_t active_ns_ = 0;          ///< sender: sent data or got an acknowledgement
  std::uint64_t rtt_ns_ = 0;             ///< smoothed, 0: not known yet
  std::deque<std::pair<std::int64_t, std::uint64_t>> timed_; ///< ends of data sent once, when
  std::int64_t expected_ = 0;                                ///< receiver
  IntervalSet has_;                                          ///< receiver
  std::optional<std::uint64_t> gap_ns_;                      ///< receiver: since when
  EpisodeBook::Transmissions sent_;
};

} // namespace

FlowHistory follow_tcp(const wire::Trace& trace, const TraceFlows& flows, const TcpFlow& flow,
                       const Timeline& timeline, bool from_client)
{
  return TcpWalk(trace, flows, flow, timeline, from_client).run();
}

} // namespace rdmalab::analysis
