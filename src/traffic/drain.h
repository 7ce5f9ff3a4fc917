#pragma once

#include "traffic/endpoint.h"
#include "traffic/payload.h"

namespace rdmalab::traffic {

/// The part of drain_budget_ns() in which the transport itself may finish; the rest is for the
/// out-of-band words.
std::uint64_t transport_drain_ns(const lab::Traffic& traffic);

/// A message must have room for the header by which it is checked.
inline Status check_message_size(const lab::Traffic& traffic)
{
  if (traffic.message_bytes >= Payload::min_bytes) return {};
  return usage_error("use messages of " + std::to_string(traffic.message_bytes) + " bytes",
                     "a message carries a header to check it by: at least 64 bytes");
}

} // namespace rdmalab::traffic
