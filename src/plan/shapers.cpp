#include "plan/shapers.h"

#include "base/json.h"
#include "base/units.h"
#include "base/wide.h"
#include "plan/traffic_window.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::plan {
namespace {

struct Place {
  std::string host;
  bool up = false;
  bool operator<(const Place& other) const
  {
    return std::tie(host, up) < std::tie(other.host, other.up);
  }
};

std::string kind_name(lab::FaultKind kind)
{
  return Json(kind).get<std::string>();
}

std::string describe(const Place& place)
{
  return fmt::format("packets {} {}", place.up ? "from" : "to", place.host);
}

/// Hosts that exchange packets with this one in any traffic of the lab.
std::set<std::string> peers(const lab::Lab& lab, const std::string& host)
{
  std::set<std::string> found;
  for (const lab::Traffic& traffic : lab.traffic) {
    if (traffic.from == host) found.insert(traffic.to);
    if (traffic.to == host) found.insert(traffic.from);
  }
  return found;
}

/// Where a fault's packets, and no others, pass. The last port before `to` serves unless other
/// hosts send there too; then the first behind `from`, unless that host sends elsewhere too.
Result<Place> place(const lab::Lab& lab, const lab::Fault& fault)
{
  if (!fault.from && !fault.to)
    return usage_error(
        fmt::format("place fault '{}': it names neither `from` nor `to`", fault.name));
  if (!fault.to) return Place{*fault.from, true};
  if (!fault.from || lab.topology.hosts.size() == 2) return Place{*fault.to, false};

  const auto only = [](const std::set<std::string>& hosts, const std::string& one) {
    return std::all_of(hosts.begin(), hosts.end(), [&](const auto& h) { return h == one; });
  };
  if (only(peers(lab, *fault.to), *fault.from)) return Place{*fault.to, false};
  if (only(peers(lab, *fault.from), *fault.to)) return Place{*fault.from, true};
  return usage_error(
      fmt::format("place fault '{}': {} and {} both have traffic with other hosts, and "
                  "netem can't tell their packets apart",
                  fault.name, *fault.from, *fault.to),
      "name only `from` or only `to`, so that the fault hits all of that host's packets");
}

/// Adds one fault to what netem is told.
Status combine(Netem& netem, const lab::Fault& fault)
{
  using lab::FaultKind;
  switch (fault.kind) {
  case FaultKind::loss:
    netem.loss_ppm = fault.rate_ppm;
    netem.loss_correlation_ppm = fault.correlation_ppm;
    return {};
  case FaultKind::burst_loss:
    netem.gilbert_elliott = true;
    netem.ge_p_ppm = fault.p_ppm;
    netem.ge_r_ppm = fault.r_ppm;
    netem.ge_bad_loss_ppm = fault.bad_loss_ppm;
    netem.ge_good_loss_ppm = fault.good_loss_ppm;
    return {};
  case FaultKind::delay:
    netem.delay_ns += fault.delay_ns;
    return {};
  case FaultKind::jitter:
    netem.jitter_ns = fault.jitter_ns;
    netem.keep_order = !fault.reorder;
    return {};
  case FaultKind::rate:
    netem.rate_bps = fault.rate_bps;
    return {};
  case FaultKind::duplicate:
    netem.duplicate_ppm = fault.rate_ppm;
    netem.duplicate_correlation_ppm = fault.correlation_ppm;
    return {};
  case FaultKind::reorder:
    netem.delay_ns += fault.delay_ns;
    netem.reorder_ppm = fault.rate_ppm;
    netem.reorder_correlation_ppm = fault.correlation_ppm;
    netem.reorder_gap = std::max<std::uint32_t>(fault.gap, 1);
    return {};
  case FaultKind::corrupt:
    netem.corrupt_ppm = fault.rate_ppm;
    netem.corrupt_correlation_ppm = fault.correlation_ppm;
    return {};
  }
  return usage_error(fmt::format("combine fault '{}': unknown kind", fault.name));
}

/// What only shows when all faults of a place are known.
Status check_combination(const Netem& netem, const std::string& where)
{
  if (netem.reorder_ppm != 0 && netem.delay_ns == 0)
    return usage_error(fmt::format("reorder {}: there is no delay for a packet to skip", where),
                       "give the fault a `delay`: how long the other packets wait");
  if (netem.jitter_ns > netem.delay_ns)
    return usage_error(
        fmt::format("jitter {}: {} is more than the delay of {}, and no packet leaves "
                    "before it came",
                    where, units::format_time(netem.jitter_ns), units::format_time(netem.delay_ns)),
        "add a fault of kind delay, or give the link a longer one");
  if (netem.jitter_ns > std::numeric_limits<std::int32_t>::max())
    return usage_error(fmt::format("jitter {}: {} is more than netem's draw can hold, {}", where,
                                   units::format_time(netem.jitter_ns),
                                   units::format_time(std::numeric_limits<std::int32_t>::max())));
  if (netem.jitter_ns != 0 && !netem.keep_order && netem.rate_bps != 0)
    return usage_error(
        fmt::format("jitter {}: netem keeps the order of packets on a link with a rate, "
                    "so `reorder: true` would do nothing",
                    where),
        "take the link's rate away, or use a fault of kind reorder");
  return {};
}

Netem base_netem(const lab::LinkShape& shape)
{
  Netem netem;
  netem.rate_bps = shape.rate_bps;
  netem.delay_ns = shape.delay_ns;
  return netem;
}

void set_limit(const lab::Lab& lab, const lab::LinkShape& shape, Netem& netem)
{
  netem.limit_packets = shape.queue_packets != 0 ? shape.queue_packets : queue_limit(lab, netem);
}

Result<Shaper> make_shaper(const lab::Lab& lab, const HostNode& node, bool up,
                           const lab::LinkShape& shape,
                           const std::vector<const lab::Fault*>& faults)
{
  Shaper shaper{node.name, up, node.port, base_netem(shape), {}, {}};
  if (up) shaper.device.front() = 'u'; // p0's ifb is u0
  set_limit(lab, shape, shaper.unfaulted);

  Netem faulted = base_netem(shape);
  const std::string where = describe({node.name, up});
  std::map<lab::FaultKind, std::string> seen;
  for (const lab::Fault* fault : faults) {
    const auto [twin, fresh] = seen.emplace(fault->kind, fault->name);
    if (!fresh)
      return usage_error(fmt::format("combine faults '{}' and '{}': both are {} on {}",
                                     twin->second, fault->name, kind_name(fault->kind), where),
                         "make one fault of the two");
    TRY(combine(faulted, *fault));
    shaper.faults.push_back(fault->name);
  }
  if (seen.contains(lab::FaultKind::loss) && seen.contains(lab::FaultKind::burst_loss))
    return usage_error(
        fmt::format("combine faults '{}' and '{}': netem has one loss model, and both "
                    "want it on {}",
                    seen[lab::FaultKind::loss], seen[lab::FaultKind::burst_loss], where),
        "burst-loss can lose packets in its good state too");
  TRY(check_combination(faulted, where));
  set_limit(lab, shape, faulted);
  shaper.faulted = faulted;
  return shaper;
}

std::uint32_t clamp32(Wide value)
{
  return static_cast<std::uint32_t>(
      std::min<Wide>(value, std::numeric_limits<std::uint32_t>::max()));
}

} // namespace

std::uint32_t queue_limit(const lab::Lab& lab, const Netem& netem)
{
  constexpr std::uint64_t smallest_packet = 64;             // bytes, an ACK on Ethernet
  constexpr std::uint64_t memory = std::uint64_t{64} << 20; // bytes of kernel memory
  // sk_buff, shared info and a data block from kmalloc's power-of-two caches, in bytes.
  const std::uint64_t kernel_bytes = std::bit_ceil(std::uint64_t{lab.topology.mtu} + 400) + 256;

  const Wide longest_ns = netem.delay_ns + Wide{4} * netem.jitter_ns;
  const Wide on_link =
      3 * Wide{netem.rate_bps} * longest_ns / (Wide{2} * 8 * 1'000'000'000 * smallest_packet);
  return clamp32(1000 + std::min<Wide>(on_link, memory / kernel_bytes) + packets_in_flight(lab));
}

Result<std::vector<Shaper>> make_shapers(const lab::Lab& lab, const std::vector<HostNode>& hosts)
{
  std::map<Place, std::vector<const lab::Fault*>> faults;
  for (const lab::Fault& fault : lab.faults) {
    TRY_ASSIGN(const Place at, place(lab, fault));
    faults[at].push_back(&fault);
  }
  std::vector<Shaper> shapers;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const lab::Host& host = lab.topology.hosts[i];
    TRY_ASSIGN(Shaper down,
               make_shaper(lab, hosts[i], false, host.down, faults[{host.name, false}]));
    shapers.push_back(std::move(down));
    const auto& on_up = faults[{host.name, true}];
    if (!host.up && on_up.empty()) continue;
    TRY_ASSIGN(Shaper up,
               make_shaper(lab, hosts[i], true, host.up.value_or(lab::LinkShape{}), on_up));
    shapers.push_back(std::move(up));
  }
  return shapers;
}

} // namespace rdmalab::plan
