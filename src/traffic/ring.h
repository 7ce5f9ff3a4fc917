#pragma once

#include "traffic/endpoint.h"

#include <algorithm>
#include <cstdint>

namespace rdmalab::traffic {

/// Messages of one QP or stream that the receiving end keeps unchecked, as far as its memory for
/// that reaches (EndpointSpec::ring_bytes). Checking is the lab's work, not the transport's, and
/// where the processor is the limit it would cost the transport a few percent of its goodput; so it
/// happens after the window, and within it only for a message whose place is needed again.
/// `stride`: bytes from one message to the next; `streams`: QPs or streams that share the memory.
inline std::uint64_t ring_messages(const EndpointSpec& spec, std::uint64_t stride,
                                   std::uint64_t streams)
{
  return std::max<std::uint64_t>(1, spec.ring_bytes / stride / streams);
}

} // namespace rdmalab::traffic
