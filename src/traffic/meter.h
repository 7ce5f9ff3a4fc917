#pragma once

#include "traffic/endpoint.h"

#include <cstdint>

namespace rdmalab::traffic {

/// Counts deliveries into a Flow: verbs and TCP time their goodput by the same few lines.
class Meter {
public:
  Meter(record::Flow& flow, const Schedule& schedule, std::uint64_t message_bytes,
        std::size_t streams)
      : flow_(flow), schedule_(schedule), message_bytes_(message_bytes)
  {
    flow_.bytes_per_stream.assign(streams, 0);
  }

  /// One message of `stream` came to its application at `now_ns`, `latency_ns` after it was handed
  /// over.
  void deliver(std::size_t stream, std::uint64_t now_ns, std::uint64_t latency_ns)
  {
    ++flow_.total_messages;
    flow_.total_bytes += message_bytes_;
    if (now_ns <= schedule_.window_begin_ns || now_ns > schedule_.window_end_ns) return;
    ++flow_.messages;
    flow_.bytes += message_bytes_;
    flow_.bytes_per_stream[stream] += message_bytes_;
    flow_.latency.add(latency_ns);
  }

  /// Something else than a payload was compared, and is not what it should be.
  void wrong() { checked(false); }

  /// The payload of one delivered message was compared.
  void checked(bool intact)
  {
    ++flow_.checked_messages;
    if (!intact) ++flow_.corrupt_messages;
  }

private:
  record::Flow& flow_;
  Schedule schedule_;
  std::uint64_t message_bytes_;
};

/// A Flow that only names its traffic and window.
inline record::Flow empty_flow(const EndpointSpec& spec, const Schedule& schedule)
{
  record::Flow flow;
  flow.traffic = spec.traffic.name;
  flow.window_ns = schedule.window_end_ns - schedule.window_begin_ns;
  return flow;
}

} // namespace rdmalab::traffic
