#include "analysis/proof.h"

#include "analysis/endings.h"
#include "analysis/path.h"
#include "analysis/samples.h"
#include "analysis/wire_rate.h"
#include "analysis/words.h"
#include "lab/figure_unit.h"
#include "lab/operation.h"

#include <algorithm>
#include <array>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::analysis {
namespace {

using record::Cell;
using record::Flow;
using record::Impairment;

bool corrupts(const lab::Lab& lab)
{
  return std::any_of(lab.faults.begin(), lab.faults.end(),
                     [](const lab::Fault& f) { return f.kind == lab::FaultKind::corrupt; }) ||
         std::any_of(lab.rules.begin(), lab.rules.end(),
                     [](const lab::Rule& r) { return r.kind == lab::RuleKind::forge; });
}

bool small_queue(const lab::Lab& lab, const Impairment& impairment)
{
  const lab::Host* host = find_host(lab, impairment.host);
  if (host == nullptr) return false;
  if (impairment.up) return host->up && host->up->queue_packets != 0;
  return host->down.queue_packets != 0;
}

/// What the flow's payload, delivered within the window, takes at least in packets and bytes on the
/// wire.
WireCost least_cost(const lab::Lab& lab, const lab::Traffic& traffic, const Flow& flow)
{
  const std::uint64_t payload =
      std::max<std::uint64_t>(1, packet_payload(lab, traffic, flow.path_mtu));
  std::uint64_t packets = (flow.bytes + payload - 1) / payload;
  if (traffic.kind == lab::TrafficKind::verbs && traffic.message_bytes != 0)
    packets =
        flow.bytes / traffic.message_bytes * ((traffic.message_bytes + payload - 1) / payload);
  // A program's bytes are what the fabric counted, headers and all (engine/cell.cpp). One that
  // tells a time or a count has sent something at least.
  if (traffic.kind == lab::TrafficKind::command)
    packets = std::min<std::uint64_t>(
        lab::tells_goodput(traffic) ? flow.bytes : flow.figure.value_or(0), 1);
  return {packets, flow.bytes, flow.bytes};
}

class Prover {
public:
  Prover(const record::Record& record, Proof& proof) : record_(record), proof_(proof) {}

  void run()
  {
    presence();
    for (const Cell& cell : record_.cells) {
      own_problems(cell);
      kernel_log(cell);
      offloads(cell);
      impairments(cell);
      flows(cell);
      crossing(cell);
    }
    if (other_warnings_ != 0)
      proof_.notes.push_back(
          fmt::format("The kernel logged {} warnings that are no splats; the record has them.",
                      other_warnings_));
    if (unchecked_ != 0)
      proof_.notes.push_back(
          fmt::format("{} messages were delivered without their payload being compared.",
                      count_words(unchecked_)));
  }

private:
  void problem(const Cell& cell, const std::string& text, Exit exit = Exit::setup)
  {
    proof_.problems.push_back({exit, fmt::format("{}: {}", cell.id, text)});
  }

  /// The conditions under which the traffic is to be measured.
  [[nodiscard]] std::vector<std::string_view> conditions_of(const std::string& traffic) const
  {
    std::vector<std::string_view> conditions{baseline};
    if (!record_.lab.faultless()) conditions.push_back(faulted);
    const auto groups = groups_of(record_.lab);
    if (std::any_of(groups.begin(), groups.end(), [&](const std::vector<std::string>& group) {
          return has_path(record_.lab, group) && group.front() == traffic;
        }))
      conditions.push_back(with_path);
    return conditions;
  }

  void presence()
  {
    for (const lab::Traffic& traffic : record_.lab.traffic)
      for (const std::string_view condition : conditions_of(traffic.name))
        for (std::uint32_t repeat = 0; repeat < record_.lab.measure.repeat; ++repeat) {
          const auto found =
              std::count_if(record_.cells.begin(), record_.cells.end(), [&](const Cell& c) {
                return c.condition == condition && c.repeat == repeat &&
                       std::any_of(c.flows.begin(), c.flows.end(),
                                   [&](const Flow& f) { return f.traffic == traffic.name; });
              });
          if (found == 1) continue;
          proof_.problems.push_back(
              {Exit::setup,
               fmt::format("{}, {}, repeat {}: {}", traffic.name, condition, repeat + 1,
                           found == 0 ? "not measured" : "measured more than once")});
        }
  }

  void own_problems(const Cell& cell)
  {
    for (const std::string& text : cell.problems) problem(cell, text);
  }

  void kernel_log(const Cell& cell)
  {
    const auto first = std::find_if(cell.kernel_log.begin(), cell.kernel_log.end(),
                                    [](const std::string& line) { return is_splat(line); });
    if (first != cell.kernel_log.end())
      problem(cell, "kernel splat: " + *first, Exit::guest);
    else
      other_warnings_ += cell.kernel_log.size();
  }

  void offloads(const Cell& cell)
  {
    if (record_.lab.topology.offloads) return;
    if (cell.offloads.empty()) problem(cell, "no interface's offloads were read back");
    for (const auto& [device, on] : cell.offloads)
      if (!on.empty()) problem(cell, fmt::format("offloads are on at {}: {}", device, on));
  }

  void impairments(const Cell& cell)
  {
    for (const Impairment& i : cell.impairments) {
      const std::string place = fmt::format("{} {}", i.up ? "from" : "to", i.host);
      if (i.overflowed != 0 && !small_queue(record_.lab, i))
        problem(cell, fmt::format("the queue of packets {} overflowed {} times", place,
                                  count_words(i.overflowed)));
      if (cell.condition == faulted) continue;
      if (!i.applied_as_requested)
        problem(
            cell,
            fmt::format("the link shape of packets {} reads back different from what was requested",
                        place));
      if (i.dropped != 0)
        problem(cell, fmt::format("{} packets {} were dropped without a fault",
                                  count_words(i.dropped), place));
    }
  }

  [[nodiscard]] bool is_command(const std::string& name) const
  {
    const lab::Traffic* traffic = find_traffic(record_.lab, name);
    return traffic != nullptr && traffic->kind == lab::TrafficKind::command;
  }

  /// A program that names no rate has no goodput, and nobody expects one.
  [[nodiscard]] bool without_goodput(const std::string& name) const
  {
    const lab::Traffic* traffic = find_traffic(record_.lab, name);
    return traffic != nullptr && !lab::tells_goodput(*traffic);
  }

  /// A count of none is one under a fault only: where nothing goes wrong, something has to show
  /// that the expression can match.
  void counted(const Cell& cell, const Flow& flow)
  {
    if (without_goodput(flow.traffic) && flow.figure == 0U)
      problem(cell, flow.traffic + "'s figure is zero without a fault: its expression may be wrong",
              Exit::traffic);
  }

  void baseline_end(const Cell& cell, const Flow& flow)
  {
    const lab::Traffic* traffic = find_traffic(record_.lab, flow.traffic);
    const std::string expected =
        traffic == nullptr ? "ok" : expected_end(record_.lab, *traffic, baseline);
    if (!ended(flow, expected))
      problem(cell,
              fmt::format("{} broke without a fault: {}", flow.traffic,
                          unexpected_words(flow, expected)),
              Exit::traffic);
    else if (expected == "ok" && flow.bytes == 0 && !without_goodput(flow.traffic) &&
             !(sends_so_many(traffic) && flow.total_bytes != 0) &&
             !(sends_nothing(flow.traffic) && flow.total_messages != 0))
      problem(cell, flow.traffic + " delivered nothing", Exit::traffic);
    counted(cell, flow);
  }

  [[nodiscard]] bool sends_nothing(const std::string& name) const
  {
    const lab::Traffic* traffic = find_traffic(record_.lab, name);
    return traffic != nullptr && traffic->kind == lab::TrafficKind::verbs &&
           lab::operation_of(traffic->verbs.op).local;
  }

  /// A traffic of a fixed number of messages may be through before the window begins.
  static bool sends_so_many(const lab::Traffic* traffic)
  {
    return traffic != nullptr && traffic->kind == lab::TrafficKind::verbs &&
           traffic->verbs.messages != 0;
  }

  void flows(const Cell& cell)
  {
    for (const Flow& flow : cell.flows) {
      if (window_ns({&cell, &flow}) == 0) problem(cell, flow.traffic + " has no measuring window");
      if (cell.condition != faulted) baseline_end(cell, flow);
      // A program's setting up may take longer than its traffic, but not ten times as long.
      if (is_command(flow.traffic) && flow.bytes != 0 && flow.window_ns < cell.window_ns / 10)
        problem(cell, fmt::format("traffic bypassed the fabric: {} bytes passed, which {} would "
                                  "have carried in a tenth of its run by its own figure",
                                  count_words(flow.bytes), flow.traffic));
      if (sends_nothing(flow.traffic)) continue;
      if (flow.total_messages != 0 && flow.checked_messages == 0)
        problem(cell, fmt::format("no payload of {} was checked", flow.traffic));
      else if (flow.checked_messages < flow.total_messages)
        unchecked_ += flow.total_messages - flow.checked_messages;
      if (flow.corrupt_messages != 0 && !corrupts(record_.lab))
        problem(cell,
                fmt::format("{} messages of {} arrived with wrong payload",
                            count_words(flow.corrupt_messages), flow.traffic),
                Exit::traffic);
    }
  }

  /// The host that took the payload in. What a command does is its own: the host to which more
  /// bytes went.
  static const std::string& sink_of(const Cell& cell, const lab::Traffic& traffic)
  {
    if (traffic.kind != lab::TrafficKind::command) return data_sink(traffic);
    WireCost to;
    WireCost from;
    return passed(cell, traffic.from, from) && passed(cell, traffic.to, to) &&
                   from.wire_bytes > to.wire_bytes
               ? traffic.from
               : traffic.to;
  }

  /// Per direction between two hosts, what all flows need against what passed.
  void crossing(const Cell& cell)
  {
    for (const lab::Host& sink : record_.lab.topology.hosts) {
      WireCost need;
      for (const Flow& flow : cell.flows) {
        const lab::Traffic* traffic = find_traffic(record_.lab, flow.traffic);
        if (traffic == nullptr || sink_of(cell, *traffic) != sink.name) continue;
        const WireCost cost = least_cost(record_.lab, *traffic, flow);
        need.packets += cost.packets;
        need.wire_bytes += cost.wire_bytes;
      }
      if (need.packets != 0) crossing(cell, sink.name, need);
    }
  }

  void crossing(const Cell& cell, const std::string& sink, const WireCost& need)
  {
    WireCost seen;
    if (!passed(cell, sink, seen)) {
      problem(cell, fmt::format(
                        "nothing counted the packets to {}: no proof that they crossed the fabric",
                        sink));
      return;
    }
    // With offloads on, one packet of the fabric's is many of the wire's.
    if (!record_.lab.topology.offloads && seen.packets < need.packets)
      problem(cell,
              fmt::format(
                  "traffic bypassed the fabric: {} packets reached {} where its payload needs {}",
                  count_words(seen.packets), sink, count_words(need.packets)));
    if (seen.wire_bytes < need.wire_bytes)
      problem(cell,
              fmt::format(
                  "traffic bypassed the fabric: {} bytes reached {}, which took in {} of payload",
                  count_words(seen.wire_bytes), sink, count_words(need.wire_bytes)));
  }

  /// What the fabric's port towards the host let through, or, without a netem there, what its
  /// interface received.
  static bool passed(const Cell& cell, const std::string& host, WireCost& seen)
  {
    for (const Impairment& i : cell.impairments) {
      if (i.host != host || i.up) continue;
      seen.packets = i.packets - std::min(i.packets, i.duplicated);
      seen.wire_bytes = i.bytes;
      return true;
    }
    for (const record::Counters& c : cell.counters) {
      if (c.host != host) continue;
      const auto packets = c.device.find("rx_packets");
      const auto bytes = c.device.find("rx_bytes");
      if (packets == c.device.end() || bytes == c.device.end()) return false;
      seen.packets = packets->second;
      seen.wire_bytes = bytes->second;
      return true;
    }
    return false;
  }

  const record::Record& record_;
  Proof& proof_;
  std::size_t other_warnings_ = 0;
  std::uint64_t unchecked_ = 0;
};

} // namespace

bool is_splat(std::string_view line)
{
  static constexpr std::array<std::string_view, 14> signs{"WARNING:",
                                                          "BUG:",
                                                          "BUG at",
                                                          "Oops",
                                                          "general protection fault",
                                                          "Kernel panic",
                                                          "KASAN",
                                                          "UBSAN",
                                                          "KFENCE",
                                                          "soft lockup",
                                                          "hard LOCKUP",
                                                          "detected stall",
                                                          "blocked for more than",
                                                          "refcount_t:"};
  return std::any_of(signs.begin(), signs.end(), [&](std::string_view sign) {
    return line.find(sign) != std::string_view::npos;
  });
}

Proof prove(const record::Record& record)
{
  Proof proof;
  Prover(record, proof).run();
  return proof;
}

} // namespace rdmalab::analysis
