#include "analysis/episode_book.h"

#include <algorithm>

namespace rdmalab::analysis {

EpisodeBook::EpisodeBook(const wire::Trace& trace, const TraceFlows& flows,
                         const Timeline& timeline)
    : trace_(trace), flows_(flows), timeline_(timeline), before_(timeline.passages.size(), nowhere),
      outcome_(timeline.passages.size(), Outcome::open),
      episode_of_(timeline.passages.size(), nowhere)
{
  history_.again.resize(timeline.passages.size());
}

std::uint32_t EpisodeBook::sent(Transmissions& known, std::size_t id, std::int64_t position,
                                bool again)
{
  const auto [at, fresh] = known.try_emplace(position, id, 0U);
  if (!fresh) before_[id] = std::exchange(at->second.first, id);
  ++at->second.second;
  history_.again[id] = again;
  FlowRecovery& r = recovery();
  (again ? r.packets_again : r.packets) += 1;
  (again ? r.bytes_again : r.bytes) += timeline_.passages[id].payload;
  if (again) episode_of_[id] = round_in_;
  return at->second.second;
}

std::size_t EpisodeBook::lost(const Passage& p, std::string kind, std::int64_t position,
                              std::uint32_t transmission)
{
  Loss loss = loss_of(trace_, flows_, p);
  loss.kind = std::move(kind);
  loss.position = position;
  loss.transmission = transmission;
  recovery().losses.push_back(std::move(loss));
  return recovery().losses.size() - 1;
}

void EpisodeBook::open(Episode episode)
{
  open_ = recovery().episodes.size();
  goal_ = episode.position + 1;
  recovery().episodes.push_back(std::move(episode));
  needs_ack_ = false;
  waiting_since_.reset();
}

void EpisodeBook::open(std::string cause, const Passage& p, std::int64_t position)
{
  Episode e;
  e.cause = std::move(cause);
  e.kind = p.opcode != nullptr ? wire::to_string(p.packet_class) : "data";
  e.position = position;
  e.packet = packet_number(p);
  e.begin_ns = p.entered != nowhere ? p.entered_ns : p.arrived_ns;
  open(std::move(e));
}

void EpisodeBook::open_for(const Loss& loss)
{
  Episode e;
  e.cause = loss.cause;
  e.kind = loss.kind;
  e.position = loss.position;
  e.packet = loss.packet;
  e.begin_ns = loss.time_ns;
  open(std::move(e));
}

void EpisodeBook::lose(std::size_t loss)
{
  if (!is_open()) open_for(recovery().losses[loss]);
  // What is lost behind the packets that this episode replays is the next one's affair.
  if (!episode().rounds.empty() && recovery().losses[loss].position >= goal_)
    later_.push_back(loss);
  else
    join(loss);
}

void EpisodeBook::join(std::size_t loss)
{
  Loss& l = recovery().losses[loss];
  l.episode = open_;
  ++episode().losses;
  if (!waiting_since_) waiting_since_ = l.time_ns;
  raise_goal(l.position + 1);
}

void EpisodeBook::lost_answer(std::size_t loss)
{
  if (is_open()) recovery().losses[loss].episode = open_;
}

void EpisodeBook::acknowledged(std::int64_t position)
{
  std::erase_if(lost_acks_,
                [&](std::size_t loss) { return recovery().losses[loss].position < position; });
}

void EpisodeBook::raise_goal(std::int64_t goal)
{
  goal_ = std::max(goal_, goal);
}

void EpisodeBook::begin_round(Round round, const std::optional<Reveal>& reveal, const Passage& p,
                              std::int64_t next)
{
  if (!is_open() && lost_acks_.empty()) {
    open("no loss seen", p, round.position);
    needs_ack_ = true;
  } else if (!is_open()) {
    const auto acks = std::exchange(lost_acks_, {});
    for (const std::size_t loss : acks) lose(loss);
    needs_ack_ = true;
  }
  Episode& e = episode();
  if (reveal && !e.nak_reaction_ns && !is_timer(round.trigger) && round.trigger != Trigger::rnr)
    e.nak_reaction_ns = round.time_ns - reveal->time_ns;
  std::uint64_t since = e.rounds.empty() ? e.begin_ns : e.rounds.back().time_ns;
  if (waiting_since_) since = *waiting_since_;
  if (const WireState state = wait_for(round.trigger); state != WireState::other)
    history_.waits.push_back({since, round.time_ns, state});
  if (e.rounds.empty()) raise_goal(next);
  e.rounds.push_back(round);
  // Going back once more makes good what was lost in the meantime, too.
  for (const std::size_t loss : std::exchange(later_, {})) join(loss);
  waiting_since_.reset();
  round_in_ = open_;
}

bool EpisodeBook::answer_pending() const
{
  if (!is_open()) return false;
  const Episode& e = history_.recovery.episodes[open_];
  return e.rounds.empty() && !e.answers.empty() && e.answers.back().arrived_ns;
}

void EpisodeBook::close(std::uint64_t now_ns, const std::function<bool(const Loss&)>& missing)
{
  close_episode(episode(), now_ns);
  open_ = nowhere;
  const auto later = std::exchange(later_, {});
  for (const std::size_t loss : later)
    if (missing(recovery().losses[loss])) lose(loss);
}

FlowHistory EpisodeBook::finish(bool empty)
{
  if (is_open()) {
    Episode& e = episode();
    e.by = decisive(e.rounds);
    // What it waits for at the end is guessed: a NAK that is under way, otherwise the timer.
    if (waiting_since_ || e.rounds.empty())
      history_.waits.push_back({waiting_since_.value_or(e.begin_ns), flows_.end_ns,
                                answer_pending() ? WireState::nak_wait : WireState::timer_wait});
  }
  count_needless();
  history_.empty = empty;
  return std::move(history_);
}

void EpisodeBook::count_needless()
{
  for (std::size_t id = 0; id < before_.size(); ++id) {
    if (episode_of_[id] == nowhere) continue;
    Episode& e = recovery().episodes[episode_of_[id]];
    const std::uint64_t bytes = timeline_.passages[id].payload;
    ++e.packets_again;
    e.bytes_again += bytes;
    const Outcome earlier = best_before(id);
    if (earlier == Outcome::thrown_away) {
      ++e.packets_thrown_away;
      e.bytes_thrown_away += bytes;
    } else if (earlier != Outcome::open) {
      ++e.packets_already_there;
      e.bytes_already_there += bytes;
    }
  }
}

Outcome EpisodeBook::best_before(std::size_t id) const
{
  Outcome best = Outcome::open;
  for (std::size_t at = before_[id]; at != nowhere; at = before_[at]) {
    if (outcome_[at] == Outcome::accepted || outcome_[at] == Outcome::duplicate)
      return Outcome::accepted;
    if (outcome_[at] == Outcome::thrown_away) best = Outcome::thrown_away;
  }
  return best;
}

} // namespace rdmalab::analysis
