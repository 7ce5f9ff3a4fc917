#include "analysis/timeline.h"

#include "wire/icrc.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::analysis {
namespace {

using wire::TracePoint;

/// What two sightings of one packet share.
using PacketKey = std::array<std::uint64_t, 4>;

/// A packet that entered this long before the trace's end and wasn't seen again is lost, even if
/// its flow was silent from then on.
constexpr std::uint64_t grace_ns = 1'000'000;

PacketKey key_of(const Passage& p, const wire::Packet& packet, bool roce, std::uint64_t aeth)
{
  const std::uint64_t common =
      std::uint64_t{p.forward} << 63U | std::uint64_t{packet.identification} << 32U | p.payload;
  if (roce) return {common, std::uint64_t{p.opcode ? p.opcode->code : 255U}, p.psn, aeth};
  return {common, std::uint64_t{p.tcp.sequence} << 32U | p.tcp.acknowledgement, p.tcp.flags,
          std::uint64_t{p.tcp.timestamp} << 32U | p.tcp.timestamp_echo};
}

/// One flow while it is gathered.
class Gatherer {
public:
  void enter(Passage passage, const PacketKey& key)
  {
    waiting_[key].push_back(timeline_.passages.size());
    timeline_.sightings.push_back({timeline_.passages.size(), false});
    timeline_.passages.push_back(std::move(passage));
  }

  void arrive(Passage passage, const PacketKey& key, bool stale)
  {
    const auto found = waiting_.find(key);
    std::size_t match = found == waiting_.end() ? nowhere : pick(found->second, passage);
    if (match == nowhere) {
      passage.copy = matched_.count(key) != 0;
      if (!passage.copy) ++timeline_.strangers;
      match = timeline_.passages.size();
      timeline_.passages.push_back(std::move(passage));
    } else {
      Passage& known = timeline_.passages[match];
      known.arrived = passage.arrived;
      known.arrived_ns = passage.arrived_ns;
      last_[known.forward] = match;
      matched_[key] = match;
      std::erase(found->second, match);
      if (known.action == wire::FaultAction::corrupt) stale = true;
    }
    Passage& known = timeline_.passages[match];
    // A copy of a corrupted packet is corrupted, too.
    if (known.copy)
      stale = stale || timeline_.passages[matched_[key]].action == wire::FaultAction::corrupt;
    known.fate = stale ? Fate::stale : Fate::arrived;
    timeline_.sightings.push_back({match, true});
  }

  /// Tells the packets that were lost from those that were still on their way at the end.
  Timeline finish(std::uint64_t end_ns)
  {
    std::array<std::uint64_t, 2> longest{};
    std::array<std::uint64_t, 2> latest{};
    for (const Passage& p : timeline_.passages) {
      if (p.entered == nowhere || p.arrived == nowhere) continue;
      longest.at(p.forward) = std::max(longest.at(p.forward), p.arrived_ns - p.entered_ns);
      latest.at(p.forward) = std::max(latest.at(p.forward), p.entered_ns);
    }
    for (Passage& p : timeline_.passages) {
      if (p.arrived != nowhere || p.action == wire::FaultAction::drop) continue;
      const bool overtaken = latest.at(p.forward) > p.entered_ns;
      const std::uint64_t due = p.entered_ns + 2 * longest.at(p.forward) + grace_ns;
      if (!overtaken && due > end_ns) p.fate = Fate::in_flight;
    }
    return std::move(timeline_);
  }

private:
  std::size_t pick(const std::vector<std::size_t>& candidates, const Passage& arrival) const
  {
    const auto& all = timeline_.passages;
    const std::size_t last = last_[arrival.forward];
    std::size_t best = nowhere;
    std::uint64_t best_off = 0;
    for (const bool in_order : {true, false}) {
      for (const std::size_t c : candidates) {
        if (all[c].action == wire::FaultAction::drop) continue;
        if (in_order && last != nowhere && c < last) continue;
        const std::uint64_t delay = arrival.arrived_ns - all[c].entered_ns;
        const std::uint64_t usual =
            last == nowhere ? delay : all[last].arrived_ns - all[last].entered_ns;
        const std::uint64_t off = delay > usual ? delay - usual : usual - delay;
        if (best == nowhere || off < best_off) {
          best = c;
          best_off = off;
        }
      }
      if (best != nowhere) break;
    }
    return best;
  }

  Timeline timeline_;
  std::map<PacketKey, std::vector<std::size_t>> waiting_;
  std::map<PacketKey, std::size_t> matched_;
  std::array<std::size_t, 2> last_{nowhere, nowhere}; ///< last match, by direction
};

/// Finds a packet's flow. Two flows of a host may go to the same QPN or port of different hosts, so
/// the peer is told by its address, which is learned from the packets themselves.
class Sorter {
public:
  Sorter(const wire::Trace& trace, const TraceFlows& flows)
      : trace_(trace), flows_(flows), verbs_(flows.verbs.size()), tcp_(flows.tcp.size())
  {
    const auto host = [&](const std::string& name) {
      const auto at = std::ranges::find(trace.hosts, name);
      return static_cast<std::uint64_t>(at - trace.hosts.begin());
    };
    for (std::size_t i = 0; i < flows.verbs.size(); ++i) {
      const VerbsFlow& f = flows.verbs[i];
      const auto [from, to] = std::pair{host(f.initiator), host(f.target)};
      routes_[{true, from, to, f.target_qpn}] = {i, true};
      routes_[{true, to, from, f.initiator_qpn}] = {i, false};
    }
    for (std::size_t i = 0; i < flows.tcp.size(); ++i) {
      const TcpFlow& f = flows.tcp[i];
      const auto [from, to] = std::pair{host(f.client), host(f.server)};
      const auto ports = [](std::uint64_t a, std::uint64_t b) { return a << 16U | b; };
      routes_[{false, from, to, ports(f.client_port, f.server_port)}] = {i, true};
      routes_[{false, to, from, ports(f.server_port, f.client_port)}] = {i, false};
    }
  }

  Timelines sort()
  {
    for (const wire::TracedPacket& p : trace_.packets) learn(p);
    for (std::size_t i = 0; i < trace_.packets.size(); ++i) take(i);
    Timelines result;
    const std::uint64_t end = trace_.packets.empty() ? 0 : trace_.packets.back().time_ns;
    for (std::size_t i = 0; i < verbs_.size(); ++i) {
      result.verbs.push_back(verbs_[i].finish(end));
      if (result.verbs.back().passages.empty())
        result.problems.push_back(fmt::format("no packet of {}'s QP {} is in the trace",
                                              flows_.verbs[i].traffic, flows_.verbs[i].qp));
    }
    for (std::size_t i = 0; i < tcp_.size(); ++i) {
      result.tcp.push_back(tcp_[i].finish(end));
      if (result.tcp.back().passages.empty())
        result.problems.push_back(fmt::format("no packet of {}'s stream {} is in the trace",
                                              flows_.tcp[i].traffic, flows_.tcp[i].stream));
    }
    return result;
  }

private:
  using Route = std::tuple<bool, std::uint64_t, std::uint64_t, std::uint64_t>;

  void learn(const wire::TracedPacket& traced)
  {
    const wire::Packet packet = wire::decode_packet(traced.bytes, traced.wire_length);
    if (packet.network == wire::Network::none) return;
    const bool entered = traced.point == TracePoint::entered;
    const wire::IpAddress& address = entered ? packet.source : packet.destination;
    if (host_of(address) == nullptr) hosts_.emplace_back(address, traced.host);
  }

  /// Null if it is unknown. A lab has few hosts.
  [[nodiscard]] const std::uint16_t* host_of(const wire::IpAddress& address) const
  {
    const auto at =
        std::ranges::find(hosts_, address, &std::pair<wire::IpAddress, std::uint16_t>::first);
    return at == hosts_.end() ? nullptr : &at->second;
  }

  void take(std::size_t index)
  {
    const wire::TracedPacket& traced = trace_.packets[index];
    const wire::Packet packet = wire::decode_packet(traced.bytes, traced.wire_length);
    if (packet.transport == wire::Transport::none) return;
    const bool entered = traced.point == TracePoint::entered;
    const std::uint16_t* peer = host_of(entered ? packet.destination : packet.source);
    if (peer == nullptr) return;
    const std::uint64_t from = entered ? traced.host : *peer;
    const std::uint64_t to = entered ? *peer : traced.host;

    Passage p;
    (entered ? p.entered : p.arrived) = index;
    (entered ? p.entered_ns : p.arrived_ns) = traced.time_ns;
    p.rule = traced.rule;
    p.action = traced.action;
    p.wire_length = traced.wire_length;
    if (packet.is_roce())
      take_roce(std::move(p), traced, packet, from, to);
    else if (packet.transport == wire::Transport::tcp)
      take_tcp(std::move(p), traced, packet, from, to);
  }

  void take_roce(Passage p, const wire::TracedPacket& traced, const wire::Packet& packet,
                 std::uint64_t from, std::uint64_t to)
  {
    const auto roce = wire::decode_roce(traced.bytes, packet);
    if (!roce) return;
    const auto route = routes_.find({true, from, to, roce->headers.bth.destination_qp});
    if (route == routes_.end()) return;
    const auto [flow, forward] = route->second;
    p.forward = forward;
    p.payload = static_cast<std::uint32_t>(roce->payload_length);
    p.packet_class = roce->packet_class;
    p.opcode = roce->opcode;
    p.psn = roce->headers.bth.psn;
    p.ack_request = roce->headers.bth.ack_request;
    p.syndrome = roce->syndrome();
    const std::uint32_t mtu = flows_.verbs[flow].path_mtu;
    if (p.packet_class == wire::PacketClass::read_request && roce->headers.reth && mtu > 0)
      p.span = std::max(1U, (roce->headers.reth->length + mtu - 1) / mtu);
    const auto& aeth = roce->headers.aeth;
    const std::uint64_t aeth_key =
        aeth ? std::uint64_t{aeth->syndrome} << 32U | aeth->msn : ~std::uint64_t{0};
    const PacketKey key = key_of(p, packet, true, aeth_key);
    if (p.entered != nowhere) return verbs_[flow].enter(std::move(p), key);
    // netem corrupts without a word; a packet that was captured whole gives it away.
    const bool stale = !wire::icrc_holds(traced.bytes, packet).value_or(true);
    verbs_[flow].arrive(std::move(p), key, stale);
  }

  void take_tcp(Passage p, const wire::TracedPacket& traced, const wire::Packet& packet,
                std::uint64_t from, std::uint64_t to)
  {
    const std::uint64_t ports = std::uint64_t{packet.source_port} << 16U | packet.destination_port;
    const auto route = routes_.find({false, from, to, ports});
    if (route == routes_.end()) return;
    const auto [flow, forward] = route->second;
    p.forward = forward;
    p.payload = static_cast<std::uint32_t>(packet.payload_length);
    p.tcp = decode_tcp(traced.bytes, packet);
    const PacketKey key = key_of(p, packet, false, 0);
    if (p.entered != nowhere) return tcp_[flow].enter(std::move(p), key);
    tcp_[flow].arrive(std::move(p), key, false);
  }

  const wire::Trace& trace_;
  const TraceFlows& flows_;
  std::vector<Gatherer> verbs_;
  std::vector<Gatherer> tcp_;
  std::vector<std::pair<wire::IpAddress, std::uint16_t>> hosts_;
  std::map<Route, std::pair<std::size_t, bool>> routes_;
};

} // namespace

Timelines sort_trace(const wire::Trace& trace, const TraceFlows& flows)
{
  return Sorter(trace, flows).sort();
}

std::uint64_t packet_number(const Passage& passage)
{
  return (passage.entered != nowhere ? passage.entered : passage.arrived) + 1;
}

} // namespace rdmalab::analysis
