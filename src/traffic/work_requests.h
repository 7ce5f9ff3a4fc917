#pragma once

#include "lab/operation.h"
#include "traffic/verbs_link.h"

#include <cstdint>
#include <vector>

#include <infiniband/verbs.h>

namespace rdmalab::traffic {

/// Turns messages of a QP into one list of work requests: one doorbell, which with rxe is one
/// system call. Message number n lies in slot n % slots of this end, and its wr_id says n % depth.
class WorkRequests {
public:
  explicit WorkRequests(const EndpointSpec& spec);

  void begin() { count_ = 0; }
  /// One message more, at most depth in all. `signaled`: it makes a completion when it succeeds.
  void add(const VerbsLink& link, std::uint64_t qp, std::uint64_t number, std::uint64_t now_ns,
           bool signaled);
  /// The list; valid until the next begin().
  ibv_send_wr* list();

  /// A request behind which others of the same message follow: what breaks it, breaks them, too.
  static bool more_follow(std::uint64_t work_id) { return (work_id & part) != 0; }
  static std::uint64_t slot_of(std::uint64_t work_id)
  {
    return VerbsLink::slot_of(work_id) & ~part;
  }

private:
  static constexpr std::uint64_t part = 1ULL << 31;

  ibv_send_wr& next(ibv_wr_opcode opcode, std::uint64_t id, const ibv_sge& place);
  void aim(ibv_send_wr& request, const VerbsLink& link, std::uint64_t qp,
           std::uint64_t number) const;

  const lab::Operation& op_;
  EndpointSpec spec_;
  bool confirmed_; ///< by a READ of its own
  std::uint64_t depth_;
  std::uint32_t bytes_;
  std::vector<ibv_send_wr> requests_;
  std::vector<ibv_sge> places_;
  std::size_t count_ = 0;
};

} // namespace rdmalab::traffic
