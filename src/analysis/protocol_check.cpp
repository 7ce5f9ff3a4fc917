#include "analysis/protocol_check.h"

#include "analysis/model.h"
#include "analysis/protocol_rules.h"
#include "analysis/timeline.h"
#include "analysis/trace_flows.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::analysis {
namespace {

using wire::PacketClass;
using wire::Position;

/// Times are ns, PSNs relative to the requester's first.
class Checker {
public:
  Checker(const Timeline& timeline, const VerbsFlow& flow, bool initiator_asks)
      : timeline_(timeline), asks_(initiator_asks), timeout_ns_(flow.ack_timeout_ns),
        base_(initiator_asks ? flow.initiator_psn : flow.target_psn)
  {}

  ProtocolCheck run()
  {
    check_.checked = true;
    for (const Sighting& s : timeline_.sightings) {
      const Passage& p = timeline_.passages[s.passage];
      if (s.arrival && !p.read()) continue;
      const bool request = p.packet_class == PacketClass::data ||
                           p.packet_class == PacketClass::read_request ||
                           p.packet_class == PacketClass::atomic;
      if (!request && (p.packet_class == PacketClass::cnp || p.packet_class == PacketClass::other))
        continue;
      if (p.forward != (request ? asks_ : !asks_)) continue;
      if (!request && !started_) continue;
      if (!s.arrival) ++check_.checked_packets;
      if (request)
        s.arrival ? responder_takes(p) : requester_sends(p);
      else
        s.arrival ? requester_takes(p) : responder_sends(p);
      if (check_.violation) break;
    }
    return std::move(check_);
  }

private:
  static bool carries_result(const Passage& p)
  {
    return p.packet_class == PacketClass::read_response ||
           p.packet_class == PacketClass::atomic_ack;
  }
  std::int64_t relative(std::uint32_t psn) const
  {
    return next_ + wire::psn_distance(wire::psn_add(base_, next_), psn);
  }
  void broke(const ProtocolRule& rule, std::string detail, std::vector<std::uint64_t> packets)
  {
    if (check_.violation) return;
    std::erase(packets, 0U);
    check_.violation = {std::string(rule.text), std::string(rule.section), std::move(detail),
                        std::move(packets)};
  }
  void note(const KnownDeviation& known, const Passage& p)
  {
    const auto at = std::ranges::lower_bound(check_.deviations, known.name, {}, &Deviation::name);
    if (at != check_.deviations.end() && at->name == known.name) {
      ++at->count;
      return;
    }
    check_.deviations.insert(
        at, {std::string(known.name), packet_number(p), 1, std::string(known.why)});
  }
  void start(std::int64_t psn)
  {
    if (std::exchange(started_, true)) return;
    next_ = last_end_ = expected_ = acknowledged_ = psn;
    last_ack_ = psn - 1;
  }

  // ---- requester

  void requester_sends(const Passage& p)
  {
    const std::int64_t psn = relative(p.psn);
    start(psn);
    if (psn > next_)
      broke(rule::next_psn, fmt::format("PSN {} after {}", psn, last_end_ - 1),
            {last_request_, packet_number(p)});
    if (acknowledged_ >= next_) armed_ns_ = p.entered_ns; // nothing was under way
    const bool goes_back = psn < last_end_;
    if (goes_back)
      went_back(p, psn);
    else
      check_position(p, psn);
    next_ = std::max(next_, psn + p.span);
    last_end_ = psn + p.span;
    last_request_ = packet_number(p);
    last_position_ = p.packet_class == PacketClass::data ? p.opcode->position : Position::only;
    const std::int64_t ahead = next_ - acknowledged_;
    if (ahead > 0x800000)
      broke(rule::outstanding, fmt::format("{} are", ahead), {packet_number(p)});
    if (ahead > static_cast<std::int64_t>(rxe_window_packets)) note(deviation::window, p);
  }

  void check_position(const Passage& p, std::int64_t psn)
  {
    const bool within = last_position_ == Position::first || last_position_ == Position::middle;
    const bool goes_on =
        p.packet_class == PacketClass::data &&
        (p.opcode->position == Position::middle || p.opcode->position == Position::last);
    if (last_request_ == 0 || psn != last_end_ || within == goes_on) return;
    broke(rule::message_order,
          fmt::format("{} behind a packet that is {}", p.opcode->name,
                      within ? "not the last of its message" : "the last of its message"),
          {last_request_, packet_number(p)});
  }

  void went_back(const Passage& p, std::int64_t psn)
  {
    const std::uint64_t waited = p.entered_ns - armed_ns_;
    if (nak_due_) {
      if (psn > nak_due_->first)
        broke(rule::go_back, fmt::format("PSN {} after a NAK of {}", psn, nak_due_->first),
              {nak_due_->second, packet_number(p)});
    } else if (!told_) {
      if (timeout_ns_ == 0 || waited < timeout_ns_ / 2)
        note(deviation::unexplained, p);
      else if (waited + 2 * jiffy_ns < timeout_ns_)
        note(deviation::early_timer, p);
      else if (waited > 4 * timeout_ns_)
        note(deviation::late_timer, p);
    }
    if (reads_ == 0 && psn + p.span <= acknowledged_) note(deviation::acknowledged, p);
    nak_due_.reset();
    told_ = false;
  }

  void requester_takes(const Passage& p)
  {
    const std::int64_t psn = relative(p.psn);
    armed_ns_ = p.arrived_ns;
    const bool nak = p.packet_class == PacketClass::nak;
    // RNR, and with READs any response out of order, are a reason to send again.
    if (p.packet_class == PacketClass::rnr || (reads_ > 0 && psn > acknowledged_)) told_ = true;
    if (nak && p.syndrome &&
        p.syndrome->value == static_cast<std::uint8_t>(wire::NakCode::psn_sequence_error))
      nak_due_ = {psn, packet_number(p)};
    const bool whole = p.packet_class == PacketClass::ack || carries_result(p);
    acknowledged_ = std::max(acknowledged_, whole ? psn + 1 : psn);
    // A NAK that came when the requester had gone back already asks for nothing any more.
    if (nak_due_ && acknowledged_ > nak_due_->first) nak_due_.reset();
  }

  // ---- responder

  void responder_takes(const Passage& p)
  {
    const std::int64_t psn = relative(p.psn);
    start(psn);
    if (psn > expected_) {
      // The first request behind the gap; where the NAK has to point.
      gaps_.try_emplace(expected_, Gap{packet_number(p), 0});
      return;
    }
    expected_ = std::max(expected_, psn + p.span);
    if (p.packet_class != PacketClass::read_request) return;
    ++reads_;
    runs_.push_back({psn, psn + p.span});
  }

  void responder_sends(const Passage& p)
  {
    const std::int64_t psn = relative(p.psn);
    switch (p.packet_class) {
    case PacketClass::ack:
      return sends_ack(p, psn);
    case PacketClass::nak:
      return sends_nak(p, psn);
    case PacketClass::rnr:
      // The request is as if it had not come, and what came behind it leaves a gap.
      expected_ = std::min(expected_, psn);
      gaps_.try_emplace(psn, Gap{packet_number(p), 0});
      return;
    case PacketClass::read_response:
      return sends_result(p, psn);
    default:
      if (psn >= expected_)
        broke(rule::ack_range, fmt::format("atomic PSN {}, {} expected", psn, expected_),
              {packet_number(p)});
    }
  }

  void sends_ack(const Passage& p, std::int64_t psn)
  {
    if (psn >= expected_)
      broke(rule::ack_range, fmt::format("ACK of PSN {}, while {} is expected", psn, expected_),
            {packet_number(p)});
    if (psn < last_ack_)
      broke(rule::ack_order, fmt::format("ACK of PSN {} after {}", psn, last_ack_),
            {last_ack_packet_, packet_number(p)});
    last_ack_ = psn;
    last_ack_packet_ = packet_number(p);
  }

  void sends_nak(const Passage& p, std::int64_t psn)
  {
    if (!p.syndrome ||
        p.syndrome->value != static_cast<std::uint8_t>(wire::NakCode::psn_sequence_error))
      return;
    // Requests wait in a queue at the responder, so the gap may be older than what came last.
    const auto gap = gaps_.find(psn);
    if (gap == gaps_.end()) {
      const bool named = psn == expected_;
      return broke(named ? rule::nak_gap : rule::nak_psn,
                   fmt::format("NAK of PSN {}, while {} is expected", psn, expected_),
                   {packet_number(p)});
    }
    if (gap->second.nak != 0)
      return broke(rule::nak_once, fmt::format("a second NAK of PSN {}", psn),
                   {gap->second.request, gap->second.nak, packet_number(p)});
    gap->second.nak = packet_number(p);
    while (gaps_.size() > kept_gaps) gaps_.erase(gaps_.begin());
  }

  void sends_result(const Passage& p, std::int64_t psn)
  {
    // A READ that is asked for again takes the place of its answer that is still under way.
    const auto run = std::ranges::find_if(runs_, [&](const auto& r) { return r.first == psn; });
    if (run == runs_.end()) {
      const bool asked = std::ranges::any_of(
          runs_, [&](const auto& r) { return r.first <= psn && psn < r.second; });
      return broke(asked ? rule::response_order : rule::response_asked,
                   fmt::format("read response PSN {}", psn), {packet_number(p)});
    }
    runs_.erase(runs_.begin(), run);
    if (++runs_.front().first == runs_.front().second) runs_.pop_front();
  }

  struct Gap {
    std::uint64_t request = 0; ///< that revealed it
    std::uint64_t nak = 0;     ///< that was sent for it
  };
  /// Older gaps are filled; a NAK for one would name the wrong PSN.
  static constexpr std::size_t kept_gaps = 64;

  const Timeline& timeline_;
  const bool asks_;
  const std::uint64_t timeout_ns_;
  const std::uint32_t base_;
  ProtocolCheck check_;
  bool started_ = false;

  std::int64_t next_ = 0;
  std::int64_t last_end_ = 0;
  std::int64_t acknowledged_ = 0;
  std::uint64_t last_request_ = 0;
  Position last_position_ = Position::only;
  std::uint64_t armed_ns_ = 0;                                    ///< when the ACK timer began
  std::optional<std::pair<std::int64_t, std::uint64_t>> nak_due_; ///< PSN and packet
  bool told_ = false;

  std::int64_t expected_ = 0;
  std::int64_t last_ack_ = -1;
  std::uint64_t last_ack_packet_ = 0;
  std::map<std::int64_t, Gap> gaps_; ///< by expected PSN
  std::uint64_t reads_ = 0;
  std::deque<std::pair<std::int64_t, std::int64_t>> runs_; ///< PSNs of results that are due
};

} // namespace

ProtocolCheck check_protocol(const Timeline& timeline, const VerbsFlow& flow, bool initiator_asks)
{
  return Checker(timeline, flow, initiator_asks).run();
}

} // namespace rdmalab::analysis
