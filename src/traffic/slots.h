#pragma once

#include "traffic/endpoint.h"

#include <cstdint>

namespace rdmalab::traffic {

/// Message buffers of all QPs of an endpoint: `per_qp` slots of `stride` bytes each, one QP's after
/// another's.
struct SlotLayout {
  std::uint64_t per_qp = 0;
  std::uint64_t stride = 0;
  std::uint64_t head = 0;  ///< bytes of a slot before its message
  std::uint64_t begin = 0; ///< of the first slot, in the endpoint's memory

  [[nodiscard]] std::uint64_t offset(std::uint64_t qp, std::uint64_t slot) const
  {
    return begin + (qp * per_qp + slot) * stride + head;
  }
};

/// What UD puts before a message at its receiver: the GRH's place, 40 bytes (IB specification
/// 11.4.1.2, ibv_post_recv(3)).
inline constexpr std::uint64_t grh_bytes = 40;

/// The memory of one end.
struct Memory {
  SlotLayout messages;
  SlotLayout notices;             ///< of an operation that has them: its SENDs, or its receives
  std::uint64_t confirmation = 0; ///< where the READs put what they read that confirm messages
  std::uint64_t bytes = 0;
};

/// What an end needs. The sender of SEND and WRITE has a buffer per message in flight; who receives
/// has as many as ring_messages() says, and never fewer than may arrive at once. The target of READ
/// offers one message more than are in flight, so that a slot never gets the same one twice in a
/// row.
Memory memory_of(const EndpointSpec& spec, Role role);

/// Work requests that an initiator has on a QP at once, at most: a notice and a confirming READ are
/// requests of their own.
std::uint32_t sends_of(const lab::Verbs& verbs);

} // namespace rdmalab::traffic
