#include "wire/trace_file.h"

#include "wire/pcapng.h"

#include <algorithm>
#include <array>

namespace rdmalab::wire {
namespace {

constexpr std::array<std::string_view, 9> action_names{
    "", "drop", "delay", "duplicate", "reorder", "corrupt", "forge", "mark", "rewrite"};
constexpr std::string_view by_rule = " by rule ";
constexpr std::string_view entered_suffix = " entered";
constexpr std::string_view arrived_suffix = " arrived";

std::uint16_t index_of(std::vector<std::string>& names, std::string_view name)
{
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<std::uint16_t>(found - names.begin());
  names.emplace_back(name);
  return static_cast<std::uint16_t>(names.size() - 1);
}

/// "drop by rule gap" into the packet's action and rule.
void read_comment(std::string_view comment, TracedPacket& packet, Trace& trace)
{
  const std::size_t at = comment.find(by_rule);
  if (at == std::string_view::npos) return;
  const auto* const action =
      std::find(action_names.begin(), action_names.end(), comment.substr(0, at));
  if (action == action_names.end()) return;
  packet.action = static_cast<FaultAction>(action - action_names.begin());
  packet.rule =
      static_cast<std::uint16_t>(index_of(trace.rules, comment.substr(at + by_rule.size())) + 1);
}

} // namespace

std::string_view to_string(FaultAction action)
{
  return action_names.at(static_cast<std::size_t>(action));
}

Status write_trace(Fd file, const std::string& what, const Trace& trace, std::string_view about)
{
  std::vector<CaptureInterface> interfaces;
  for (const std::string& host : trace.hosts)
    for (const std::string_view suffix : {entered_suffix, arrived_suffix})
      interfaces.push_back({host + std::string(suffix)});
  PcapngWriter writer = PcapngWriter::create(std::move(file), what, interfaces, "rdmalab", about);
  std::vector<std::uint64_t> seen(interfaces.size());
  std::string comment;
  std::uint64_t last_ns = 0;
  for (const TracedPacket& packet : trace.packets) {
    const bool arrived = packet.point == TracePoint::arrived;
    CapturedPacket captured;
    captured.interface = packet.host * 2U + (arrived ? 1U : 0U);
    captured.time_ns = last_ns = packet.time_ns;
    captured.wire_length = packet.wire_length;
    // As the fabric sees it: a packet enters its port, or leaves it for the host.
    captured.direction = arrived ? CaptureDirection::outbound : CaptureDirection::inbound;
    captured.bytes = packet.bytes;
    comment.clear();
    if (packet.rule != 0)
      comment.append(to_string(packet.action))
          .append(by_rule)
          .append(trace.rules[packet.rule - 1U]);
    captured.comment = comment;
    ++seen[captured.interface];
    TRY(writer.write(captured));
  }
  for (std::uint32_t i = 0; i < interfaces.size(); ++i) // who lost which is not known: told once
    TRY(writer.write_statistics(i, last_ns, seen[i], i == 0 ? trace.lost : 0));
  return writer.finish();
}

Result<Trace> read_trace(std::string_view text, const std::string& what)
{
  TRY_ASSIGN(const Pcapng file, read_pcapng(text, what));
  Trace trace;
  std::vector<std::pair<std::uint16_t, TracePoint>> points;
  for (const CaptureInterface& port : file.interfaces) {
    std::string_view name = port.name;
    const bool entered = name.ends_with(entered_suffix);
    if (!entered && !name.ends_with(arrived_suffix))
      return usage_error("read " + what + ": interface " + port.name + " is none of rdmalab's",
                         "name a trace that `rdmalab run --trace DIR` wrote");
    name.remove_suffix(entered ? entered_suffix.size() : arrived_suffix.size());
    points.emplace_back(index_of(trace.hosts, name),
                        entered ? TracePoint::entered : TracePoint::arrived);
  }
  trace.packets.reserve(file.packets.size());
  for (const CapturedPacket& captured : file.packets) {
    TracedPacket packet;
    packet.time_ns = captured.time_ns;
    packet.host = points.at(captured.interface).first;
    packet.point = points.at(captured.interface).second;
    packet.wire_length = captured.wire_length;
    packet.bytes = captured.bytes;
    read_comment(captured.comment, packet, trace);
    trace.packets.push_back(packet);
  }
  for (const Pcapng::Statistics& statistics : file.statistics) trace.lost += statistics.dropped;
  return trace;
}

} // namespace rdmalab::wire
