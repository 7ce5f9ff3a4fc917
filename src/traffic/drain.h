#pragma once

#include "lab/operation.h"
#include "traffic/endpoint.h"
#include "traffic/payload.h"

namespace rdmalab::traffic {

/// The part of drain_budget_ns() in which the transport itself may finish; the rest is for the
/// out-of-band words.
std::uint64_t transport_drain_ns(const lab::Traffic& traffic);

/// Atomics have no payload of their own.
inline bool is_atomic(const lab::Traffic& traffic)
{
  return traffic.kind == lab::TrafficKind::verbs && lab::operation_of(traffic.verbs.op).atomic;
}

inline std::uint64_t payload_bytes(const lab::Traffic& traffic)
{
  return is_atomic(traffic) ? Payload::min_bytes : traffic.message_bytes;
}

/// A message must have room for the header by which it is checked.
inline Status check_message_size(const lab::Traffic& traffic)
{
  if (traffic.message_bytes >= Payload::min_bytes || is_atomic(traffic)) return {};
  return usage_error("use messages of " + std::to_string(traffic.message_bytes) + " bytes",
                     "a message carries a header to check it by: at least 64 bytes");
}

} // namespace rdmalab::traffic
