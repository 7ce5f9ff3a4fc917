#pragma once

#include "lab/lab.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace rdmalab::traffic {

/// Receives that the target of a QP posts before traffic starts, and when it posts more.
class ReceiveStock {
public:
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

  explicit ReceiveStock(const lab::Verbs& verbs)
      : verbs_(verbs), usual_(2 * verbs.depth), due_(verbs.qps, never)
  {}

  /// Before traffic starts, per QP.
  [[nodiscard]] std::uint32_t first() const { return verbs_.receives.value_or(usual_); }
  /// Of each lot that follows an empty queue.
  [[nodiscard]] std::uint32_t lot() const { return first() != 0 ? first() : usual_; }
  /// Ever posted at once.
  [[nodiscard]] std::uint32_t most() const { return lot(); }
  /// Whether a receive that was used is posted again at once.
  [[nodiscard]] bool at_once() const { return verbs_.replenish == lab::Replenish::at_once; }

  /// The queue of a QP ran empty, or was empty when traffic started.
  void ran_empty(std::uint64_t qp, std::uint64_t now_ns)
  {
    if (verbs_.replenish == lab::Replenish::after && due_[qp] == never)
      due_[qp] = now_ns + verbs_.replenish_ns;
  }
  /// When the next lot is due; never.
  [[nodiscard]] std::uint64_t next_ns() const { return *std::min_element(due_.begin(), due_.end()); }
  /// True once for a QP whose lot is due.
  bool take(std::uint64_t qp, std::uint64_t now_ns)
  {
    if (due_[qp] > now_ns) return false;
    due_[qp] = never;
    return true;
  }

private:
  lab::Verbs verbs_;
  std::uint32_t usual_;
  std::vector<std::uint64_t> due_; ///< by QP
};

} // namespace rdmalab::traffic
