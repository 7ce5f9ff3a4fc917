#pragma once

#include "lab/lab.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace rdmalab::traffic {

/// Receives that a target posts to each of its receive queues before traffic starts, and when it
/// posts more. Without an SRQ each QP has a queue of its own.
class ReceiveStock {
public:
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

  explicit ReceiveStock(const lab::Verbs& verbs)
      : verbs_(verbs), usual_(2 * verbs.depth * (verbs.srq ? verbs.qps : 1)),
        due_(verbs.srq ? 1 : verbs.qps, never)
  {}

  [[nodiscard]] std::size_t queues() const { return due_.size(); }
  /// Before traffic starts, per queue.
  [[nodiscard]] std::uint32_t first() const { return verbs_.receives.value_or(usual_); }
  /// Of each lot that follows an empty queue; never are more of them posted at once.
  [[nodiscard]] std::uint32_t most() const { return first() != 0 ? first() : usual_; }
  /// Whether a receive that was used is posted again at once.
  [[nodiscard]] bool at_once() const { return verbs_.replenish == lab::Replenish::at_once; }

  /// A queue ran empty, or was empty when traffic started.
  void ran_empty(std::size_t queue, std::uint64_t now_ns)
  {
    if (verbs_.replenish == lab::Replenish::after && due_[queue] == never)
      due_[queue] = now_ns + verbs_.replenish_ns;
  }
  /// When the next lot is due; never.
  [[nodiscard]] std::uint64_t next_ns() const
  {
    return *std::min_element(due_.begin(), due_.end());
  }
  /// True once for a queue whose lot is due.
  bool take(std::size_t queue, std::uint64_t now_ns)
  {
    if (due_[queue] > now_ns) return false;
    due_[queue] = never;
    return true;
  }

private:
  lab::Verbs verbs_;
  std::uint32_t usual_;
  std::vector<std::uint64_t> due_; ///< by queue
};

} // namespace rdmalab::traffic
