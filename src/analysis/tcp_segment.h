#pragma once

#include "wire/packet.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace rdmalab::analysis {

/// What a TCP segment says, options included.
struct TcpSegment {
  std::uint32_t sequence = 0;
  std::uint32_t acknowledgement = 0;
  std::uint8_t flags = 0;   ///< wire::TcpFlag bits
  std::uint32_t length = 0; ///< sequence space: payload bytes, and one each for SYN and FIN
  /// SACK blocks [left, right), as they stand there (RFC 2018).
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sack;
  bool has_timestamps = false; ///< RFC 7323
  std::uint32_t timestamp = 0;
  std::uint32_t timestamp_echo = 0;
};

/// Reads header and options from what was captured; options that are cut off or contradict
/// themselves end it. `packet` has to be TCP.
TcpSegment decode_tcp(wire::Bytes frame, const wire::Packet& packet);

} // namespace rdmalab::analysis
