#pragma once

#include "analysis/recovery_walk.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace rdmalab::analysis {

/// What became of a packet at its receiver.
enum class Outcome : std::uint8_t { open, accepted, thrown_away, duplicate };

/// When something told the sender that it has to go back.
struct Reveal {
  Trigger trigger = Trigger::unknown;
  std::uint64_t time_ns = 0;
};

/// Keeps the books of one direction of a flow: what was sent how often, what was lost, which
/// episode it belongs to. The walks say what happened; positions are PSNs or sequence numbers.
class EpisodeBook {
public:
  EpisodeBook(const wire::Trace& trace, const TraceFlows& flows, const Timeline& timeline);

  /// Counts each position's transmissions; requests and results have one each.
  using Transmissions = std::unordered_map<std::int64_t, std::pair<std::size_t, std::uint32_t>>;

  /// A packet was sent; returns which transmission of its position it is, from 1.
  std::uint32_t sent(Transmissions& known, std::size_t id, std::int64_t position, bool again);
  /// What its receiver made of a packet.
  void received(std::size_t id, Outcome outcome) { outcome_[id] = outcome; }
  std::size_t lost(const Passage& p, std::string kind, std::int64_t position,
                   std::uint32_t transmission);
  /// The loss has to be made good.
  void lose(std::size_t loss);
  /// An acknowledgement was lost, which matters only if no later one comes in time.
  void lost_ack(std::size_t loss) { lost_acks_.push_back(loss); }
  /// The loss of an answer within the episode, if one is open.
  void lost_answer(std::size_t loss);
  /// All before `position` is acknowledged.
  void acknowledged(std::int64_t position);

  [[nodiscard]] bool is_open() const { return open_ != nowhere; }
  Episode& episode() { return recovery().episodes[open_]; }
  FlowRecovery& recovery() { return history_.recovery; }
  /// Opens an episode without a loss.
  void open(std::string cause, const Passage& p, std::int64_t position);

  /// The sender goes back; `next`: behind the highest position sent. Opens an episode if none is.
  void begin_round(Round round, const std::optional<Reveal>& reveal, const Passage& p,
                   std::int64_t next);

  /// Whether the open episode still waits for a NAK that is under way to act.
  [[nodiscard]] bool answer_pending() const;
  [[nodiscard]] std::int64_t goal() const { return goal_; }
  void raise_goal(std::int64_t goal);
  [[nodiscard]] bool needs_ack() const { return needs_ack_; }
  /// Ends the open episode; losses behind its goal that `missing` says are still missing open the
  /// next.
  void close(std::uint64_t now_ns, const std::function<bool(const Loss&)>& missing);

  /// The end of the trace.
  FlowHistory finish(bool empty);

private:
  void open(Episode episode);
  void open_for(const Loss& loss);
  void join(std::size_t loss);
  void count_needless();
  [[nodiscard]] Outcome best_before(std::size_t id) const;

  const wire::Trace& trace_;
  const TraceFlows& flows_;
  const Timeline& timeline_;
  FlowHistory history_;
  std::size_t open_ = nowhere;                 ///< episode
  std::size_t round_in_ = nowhere;             ///< episode of the last round
  std::int64_t goal_ = 0;                      ///< position that the receiver has to reach
  bool needs_ack_ = false;                     ///< and that the sender has to know of
  std::optional<std::uint64_t> waiting_since_; ///< the first loss since the last round
  std::vector<std::size_t> later_;             ///< losses behind the goal
  std::vector<std::size_t> lost_acks_;
  std::vector<std::size_t> before_;     ///< by passage: the transmission before
  std::vector<Outcome> outcome_;        ///< by passage
  std::vector<std::size_t> episode_of_; ///< by passage that was sent again
};

} // namespace rdmalab::analysis
