#pragma once

#include "analysis/tcp_segment.h"
#include "analysis/trace_flows.h"
#include "wire/roce.h"
#include "wire/trace.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

/// A trace sorted by flow, each packet with both its sightings.
namespace rdmalab::analysis {

inline constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

enum class Fate : std::uint8_t {
  arrived,   ///< and the receiver reads it
  stale,     ///< arrived with a payload that its ICRC contradicts: the receiver drops it
  lost,      ///< entered and never arrived
  in_flight, ///< entered so late that the trace ends before it could arrive
};

/// One packet on its way.
struct Passage {
  std::size_t entered = nowhere; ///< index into Trace::packets; nowhere: not seen there
  std::size_t arrived = nowhere;
  std::uint64_t entered_ns = 0;
  std::uint64_t arrived_ns = 0;
  Fate fate = Fate::lost;
  bool forward = true;    ///< from the initiator or client
  bool copy = false;      ///< arrived once more than it entered
  std::uint16_t rule = 0; ///< as in TracedPacket
  wire::FaultAction action = wire::FaultAction::none;
  std::uint32_t wire_length = 0;
  std::uint32_t payload = 0; ///< application bytes

  wire::PacketClass packet_class = wire::PacketClass::other; ///< RoCE from here on
  const wire::Opcode* opcode = nullptr;
  std::uint32_t psn = 0;
  std::uint32_t span = 1; ///< PSNs that it takes: a READ request takes those of its responses
  bool ack_request = false;
  std::optional<wire::Syndrome> syndrome;

  TcpSegment tcp; ///< TCP only

  [[nodiscard]] bool read() const { return fate == Fate::arrived; }
  [[nodiscard]] bool missed() const { return fate == Fate::lost || fate == Fate::stale; }
};

/// A sighting, in the trace's order.
struct Sighting {
  std::size_t passage = 0;
  bool arrival = false;
};

/// All packets of one flow.
struct Timeline {
  std::vector<Passage> passages;
  std::vector<Sighting> sightings;
  std::uint64_t strangers = 0; ///< arrivals that nothing which entered explains
};

struct Timelines {
  std::vector<Timeline> verbs; ///< as in TraceFlows
  std::vector<Timeline> tcp;
  std::vector<std::string> problems; ///< flows that could not be found in the trace
};

/// Sorts a trace. Arrivals are matched to what entered by flow, direction, the header's fields and
/// IPv4's identification. Where two transmissions look alike (IPv6), the first one behind the last
/// match is taken, and of several the one whose delay is nearest to the last one's.
Timelines sort_trace(const wire::Trace& trace, const TraceFlows& flows);

/// The number of a packet for people: its place in the trace, from 1, where it entered (where it
/// arrived, if it wasn't seen entering).
std::uint64_t packet_number(const Passage& passage);

} // namespace rdmalab::analysis
