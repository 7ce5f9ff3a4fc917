#pragma once

#include "traffic/endpoint.h"

#include <algorithm>
#include <cstdint>

namespace rdmalab::traffic {

/// Messages of one QP or stream that the receiving end keeps unchecked: what the cell is expected
/// to carry, as far as 64 MiB an endpoint reach. Checking is the lab's work, not the transport's,
/// and where the processor is the limit it would cost the transport a few percent of its goodput;
/// so it happens after the window, and within it only for a message whose place is needed again.
/// `stride`: bytes from one message to the next; `streams`: QPs or streams that share the memory.
inline std::uint64_t ring_messages(const EndpointSpec& spec, std::uint64_t stride,
                                   std::uint64_t streams)
{
  constexpr std::uint64_t ring_bytes = 64U << 20;
  const std::uint64_t expected = spec.expected_bytes / spec.traffic.message_bytes / streams + 1;
  return std::max<std::uint64_t>(1, std::min(expected, ring_bytes / stride / streams));
}

} // namespace rdmalab::traffic
