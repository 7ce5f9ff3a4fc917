#pragma once

#include "base/json_fwd.h"
#include "lab/rule.h"

#include <cstdint>
#include <optional>
#include <string>

namespace rdmalab::lab {

/// packet: one is sent that fits. never: none that fits is sent between the events around it. The
/// others are judged when the traffic has ended: how work completed, in which state a QP is, by how
/// much a counter has grown.
enum class EventKind { packet, never, completion, state, counter };
RDMALAB_JSON_DECLARE(EventKind)

/// One line of the script that the packets of a lab must follow, in the manner of packetdrill
/// (Cardwell et al., USENIX ATC 2013). The order counts; times do only where `within_ns` or
/// `after_ns` ask.
struct Event {
  EventKind kind = EventKind::packet;
  std::string text; ///< as the lab file has it, for reports
  std::string traffic;
  std::uint32_t stream = 0; ///< its QP, from 0 in order of creation

  std::string packet_class;   ///< packet, never: "data", "nak" …; "any"
  std::string opcode;         ///< BTH's; "": any
  std::optional<Span> number; ///< PSN after the QP's first; a range is one packet after another
  std::string syndrome;       ///< of a NAK: "sequence-error" …; "": any
  std::optional<std::uint32_t> rnr_timer; ///< of an RNR NAK, its code; none: any
  std::uint32_t transmission = 0;         ///< which time the packet is sent; 0: any
  std::string from;                       ///< the host that sends it; "": any
  std::string rule;                       ///< that must hit it; "": whatever happens to it
  std::uint64_t after_ns = 0;             ///< at least so long after the event before
  std::uint64_t within_ns = 0;            ///< at most so long after it; 0: no limit

  std::string word; ///< completion: the status; state: "RTS", "ERR" …; counter: its name
  std::string host; ///< state, counter
  std::optional<std::uint64_t> count; ///< completion, counter: exactly; none: one at least
  int line = 0;
};
RDMALAB_JSON_DECLARE(Event)

} // namespace rdmalab::lab
