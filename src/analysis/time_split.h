#pragma once

#include "base/json_fwd.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rdmalab::analysis {

struct TimeShare {
  std::uint64_t ns = 0;
  std::uint32_t ppm = 0; ///< of the window
  bool operator==(const TimeShare&) const = default;
};
RDMALAB_JSON_DECLARE(TimeShare)

/// Where a traffic's window went: at each instant its sender is in exactly one state, the first of
/// these that holds. The five ns add up to the window, the five ppm to 1'000'000.
struct TrafficTime {
  std::string traffic;
  std::uint64_t window_ns = 0;
  /// A packet with payload that is sent for the first time is on the wire. Each byte is, once: so
  /// this is the goodput, plus what was sent for the first time and not delivered before the end.
  TimeShare link;
  /// A packet with payload that was sent before is on the wire.
  TimeShare replay;
  /// Something is lost and the sender idles until the NAK, an implied NAK (TCP: duplicate or
  /// selective acknowledgements) makes it go back: from the moment when the lost packet entered.
  TimeShare nak_wait;
  /// The same, and only a timer makes it go back: the local ACK timeout, TCP's RTO or probe.
  TimeShare timer_wait;
  /// The rest: window full while acknowledgements are under way, RNR, no work posted, no core.
  TimeShare other;
};
RDMALAB_JSON_DECLARE(TrafficTime)

/// States by priority, the first that holds wins.
enum class WireState : std::uint8_t { link, replay, nak_wait, timer_wait, other };

/// [begin, end) in which a state holds, ns on the trace's clock.
struct StateSpan {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  WireState state = WireState::other;
};

/// Sorts each instant of [begin, end) into the first state that holds there.
TrafficTime split_window(std::string traffic, std::span<const StateSpan> spans,
                         std::uint64_t begin_ns, std::uint64_t end_ns);

} // namespace rdmalab::analysis
