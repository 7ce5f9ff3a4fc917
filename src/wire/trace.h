#pragma once

#include "wire/bytes.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rdmalab::wire {

/// Where in the fabric a packet was seen.
enum class TracePoint : std::uint8_t {
  entered, ///< at the port of the host that sent it, before any fault
  arrived, ///< at the device of the host that it was meant for, after all faults
};

/// What a fault rule did to a packet.
enum class FaultAction : std::uint8_t {
  none,
  drop,
  delay,     ///< held for a time
  duplicate, ///< sent twice
  reorder,   ///< held until a number of others have passed
  corrupt,   ///< payload changed, the ICRC left as it was: the receiver drops it without a word
  forge,     ///< payload changed and the ICRC made right: only a comparison of the payload sees it
  mark,      ///< ECN CE
  rewrite,   ///< DSCP or TTL
};

/// One packet at one point. Times are ns since the cell's traffic began.
struct TracedPacket {
  std::uint64_t time_ns = 0;
  std::uint16_t host = 0; ///< index into Trace::hosts: who sent it (entered), who got it (arrived)
  TracePoint point = TracePoint::entered;
  FaultAction action = FaultAction::none; ///< of the rule that fired on it, told where it entered
  std::uint16_t rule = 0;                 ///< index into Trace::rules plus one; 0: none fired
  std::uint32_t wire_length = 0;          ///< Ethernet header included
  Bytes bytes{};                          ///< what was kept of the frame, from its first byte
};

/// All packets of a cell, by time.
struct Trace {
  std::vector<std::string> hosts;
  std::vector<std::string> rules; ///< names of the fault rules
  std::vector<TracedPacket> packets;
  std::uint64_t lost = 0; ///< packets that found no room in the buffer
};

} // namespace rdmalab::wire
