#include "analysis/wire_time.h"

#include "base/wide.h"

#include <algorithm>
#include <cstdint>

namespace rdmalab::analysis {
namespace {

/// A gap this many times the median is a pause, not a packet's own time.
constexpr std::uint64_t pause_factor = 8;

/// One packet that carries payload, by its place in the trace.
struct WirePacket {
  const std::string* traffic = nullptr;
  bool again = false;
};

std::vector<WirePacket> label(const wire::Trace& trace, const TraceFlows& flows,
                              const Timelines& timelines,
                              const std::vector<std::vector<bool>>& verbs_again,
                              const std::vector<std::vector<bool>>& tcp_again)
{
  std::vector<WirePacket> labels(trace.packets.size());
  const auto take = [&](const Timeline& timeline, const std::vector<bool>& again,
                        const std::string& traffic) {
    for (std::size_t id = 0; id < timeline.passages.size(); ++id) {
      const Passage& p = timeline.passages[id];
      if (p.payload > 0 && p.entered != nowhere) labels[p.entered] = {&traffic, again[id]};
    }
  };
  for (std::size_t i = 0; i < flows.verbs.size(); ++i)
    take(timelines.verbs[i], verbs_again[i], flows.verbs[i].traffic);
  for (std::size_t i = 0; i < flows.tcp.size(); ++i)
    take(timelines.tcp[i], tcp_again[i], flows.tcp[i].traffic);
  return labels;
}

WireState state_of(const WirePacket& packet)
{
  return packet.again ? WireState::replay : WireState::link;
}

using Spans = std::map<std::string, std::vector<StateSpan>>;

Spans at_rate(const wire::Trace& trace, std::uint64_t bps, const std::vector<WirePacket>& labels)
{
  Spans spans;
  std::map<std::uint16_t, std::uint64_t> busy_until; // by host
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const wire::TracedPacket& p = trace.packets[i];
    if (p.point != wire::TracePoint::entered) continue;
    std::uint64_t& busy = busy_until[p.host];
    const std::uint64_t begin = std::max(busy, p.time_ns);
    const Wide bits = static_cast<Wide>(p.wire_length) * 8U;
    busy = begin + static_cast<std::uint64_t>(bits * 1'000'000'000U / bps);
    if (labels[i].traffic != nullptr)
      spans[*labels[i].traffic].push_back({begin, busy, state_of(labels[i])});
  }
  return spans;
}

Spans by_gaps(const wire::Trace& trace, const std::vector<WirePacket>& labels)
{
  std::map<std::string, std::vector<std::size_t>> packets;
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i].traffic != nullptr) packets[*labels[i].traffic].push_back(i);
  Spans spans;
  for (const auto& [traffic, indices] : packets) {
    std::vector<std::uint64_t> gaps;
    for (std::size_t i = 1; i < indices.size(); ++i)
      gaps.push_back(trace.packets[indices[i]].time_ns - trace.packets[indices[i - 1]].time_ns);
    if (gaps.empty()) continue;
    auto sorted = gaps;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    for (std::size_t i = 1; i < indices.size(); ++i) {
      const std::uint64_t gap = gaps[i - 1];
      const std::uint64_t own = gap > pause_factor * *middle ? *middle : gap;
      const std::uint64_t end = trace.packets[indices[i]].time_ns;
      spans[traffic].push_back({end - own, end, state_of(labels[indices[i]])});
    }
  }
  return spans;
}

} // namespace

std::map<std::string, std::vector<StateSpan>>
wire_spans(const wire::Trace& trace, const TraceFlows& flows, const Timelines& timelines,
           const std::vector<std::vector<bool>>& verbs_again,
           const std::vector<std::vector<bool>>& tcp_again)
{
  const auto labels = label(trace, flows, timelines, verbs_again, tcp_again);
  return flows.link_bps > 0 ? at_rate(trace, flows.link_bps, labels) : by_gaps(trace, labels);
}

} // namespace rdmalab::analysis
