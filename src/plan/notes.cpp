#include "plan/notes.h"

#include "base/clock.h"
#include "base/units.h"
#include "base/wide.h"
#include "plan/shapers.h"
#include "plan/traffic_window.h"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::plan {
namespace {

/// A rate for a person: three digits are enough.
std::string about_rate(std::uint64_t bps)
{
  std::uint64_t unit = 1;
  while (bps / unit >= 1000) unit *= 10;
  return units::format_rate(bps / unit * unit);
}

std::string about_time(std::uint64_t ns)
{
  std::uint64_t unit = 1;
  while (ns / unit >= 1000) unit *= 10;
  return units::format_time(ns / unit * unit);
}

void note_link(const lab::Lab& lab, const lab::Traffic& traffic, std::vector<std::string>& out)
{
  const Path path = path_of(lab, traffic);
  if (path.rate_bps == 0) {
    out.push_back(fmt::format("{}: no link rate; the core sets the baseline, so retention says "
                              "how faults and CPU interact, not what a link would show",
                              traffic.name));
    return;
  }
  const std::uint64_t share = payload_share_ppm(lab, traffic);
  const auto payload = static_cast<std::uint64_t>(Wide{path.rate_bps} * share / 1'000'000);
  out.push_back(fmt::format("{}: the link's {} carry at most {} of payload", traffic.name,
                            units::format_rate(path.rate_bps), about_rate(payload)));
}

void note_window(const lab::Lab& lab, const lab::Traffic& traffic, std::vector<std::string>& out)
{
  const Path path = path_of(lab, traffic);
  if (traffic.kind != lab::TrafficKind::verbs || over_iwarp(traffic) || path.round_trip_ns == 0)
    return;
  const std::uint64_t mtu = ib_mtu(lab, traffic);
  const Wide window = std::min<Wide>(Wide{rxe_window_packets} * mtu,
                                     Wide{traffic.verbs.depth} * traffic.message_bytes);
  const Wide bps = window * traffic.verbs.qps * 8 * second_ns / path.round_trip_ns;
  if (path.rate_bps != 0 && bps >= path.rate_bps) return;
  out.push_back(fmt::format(
      "{}: {} in flight over a round trip of {} are at most {}: the window, "
      "not the link, sets the baseline",
      traffic.name, units::format_bytes(static_cast<std::uint64_t>(window) * traffic.verbs.qps),
      units::format_time(path.round_trip_ns), about_rate(static_cast<std::uint64_t>(bps))));
}

void note_timeout(const lab::Lab& lab, const lab::Traffic& traffic, std::vector<std::string>& out)
{
  if (traffic.kind != lab::TrafficKind::verbs || over_iwarp(traffic) || lab.faults.empty()) return;
  if (traffic.verbs.timeout == 0) {
    out.push_back(fmt::format("{}: timeout 0 never runs out; a lost retransmission hangs the QP",
                              traffic.name));
    return;
  }
  const std::uint64_t rto = std::uint64_t{4096} << traffic.verbs.timeout;
  std::string text = fmt::format("{}: a lost retransmission waits for the ACK time-out of {} "
                                 "(4.096us * 2^{}, rounded up to the kernel's ticks)",
                                 traffic.name, about_time(rto), traffic.verbs.timeout);
  if (rto * 10 > lab.measure.duration_ns)
    text += fmt::format("; the window of {} holds fewer than 10 of them, so repeats will differ",
                        units::format_time(lab.measure.duration_ns));
  out.push_back(std::move(text));
}

void note_shaper(const Plan& plan, const Shaper& shaper, std::vector<std::string>& out)
{
  const std::string where = fmt::format("{} {}", shaper.up ? "from" : "to", shaper.host);
  if (shaper.faulted.jitter_ns != 0 && shaper.faulted.keep_order)
    out.push_back(fmt::format("jitter {}: order is kept, so a packet waits for the one before it "
                              "and delays come out longer than drawn",
                              where));
  if (shaper.faulted.corrupt_ppm != 0)
    out.push_back(fmt::format("corrupt {}: netem flips one random bit, which no seed repeats; rxe "
                              "drops such packets without counting them",
                              where));
  if (shaper.faulted.loss_ppm == 0 || shaper.faulted.rate_bps == 0) return;
  const Wide frames = Wide{shaper.faulted.rate_bps} * plan.lab.measure.duration_ns /
                      (Wide{8} * second_ns * (plan.lab.topology.mtu + 14));
  const auto losses = static_cast<std::uint64_t>(frames * shaper.faulted.loss_ppm / 1'000'000);
  if (losses < 100)
    out.push_back(fmt::format("loss {}: at most {} full packets are lost in a window of {}; "
                              "measure longer for a narrow interval",
                              where, losses, units::format_time(plan.lab.measure.duration_ns)));
}

} // namespace

std::vector<std::string> notes(const Plan& plan)
{
  std::vector<std::string> out;
  for (const lab::Traffic& traffic : plan.lab.traffic) {
    if (traffic.kind == lab::TrafficKind::command) continue; // what it sends nobody knows
    note_link(plan.lab, traffic, out);
    note_window(plan.lab, traffic, out);
    note_timeout(plan.lab, traffic, out);
  }
  for (const Shaper& shaper : plan.fabric.shapers) note_shaper(plan, shaper, out);
  if (plan.fabric.offloads)
    out.push_back("offloads are on: a TCP packet of up to 64 KiB is one packet to netem, so equal "
                  "loss rates are not equal losses");
  return out;
}

} // namespace rdmalab::plan
