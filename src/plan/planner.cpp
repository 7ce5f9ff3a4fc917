#include "plan/planner.h"

#include "base/json.h"
#include "base/random.h"
#include "plan/shapers.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::plan {
namespace {

constexpr std::size_t most_hosts = 254; // of 10.0.0.0/24

template <typename Items> bool has_name(const Items& items, const std::string& name)
{
  return std::any_of(items.begin(), items.end(), [&](const auto& i) { return i.name == name; });
}

Status check_references(const lab::Lab& lab)
{
  const auto& hosts = lab.topology.hosts;
  if (hosts.size() < 2) return usage_error("plan hosts: a lab needs at least two");
  if (hosts.size() > most_hosts)
    return usage_error(fmt::format("plan hosts: {} are more than the {} of 10.0.0.0/24",
                                   hosts.size(), most_hosts));
  for (const lab::Traffic& traffic : lab.traffic)
    for (const std::string& host : {traffic.from, traffic.to})
      if (!has_name(hosts, host))
        return usage_error(
            fmt::format("plan traffic '{}': no host is named '{}'", traffic.name, host));
  for (const lab::Fault& fault : lab.faults)
    for (const auto& host : {fault.from, fault.to})
      if (host && !has_name(hosts, *host))
        return usage_error(
            fmt::format("plan fault '{}': no host is named '{}'", fault.name, *host));
  for (const auto& group : lab.groups)
    for (const std::string& name : group)
      if (!has_name(lab.traffic, name))
        return usage_error(fmt::format("plan groups: no traffic is named '{}'", name));
  return {};
}

HostNode host_node(const std::string& name, std::size_t index)
{
  const std::size_t number = index + 1;
  return {name,
          "rl-" + name,
          "eth0",
          fmt::format("p{}", index),
          fmt::format("rxe{}", index),
          fmt::format("02:00:00:00:00:{:02x}", number),
          fmt::format("10.0.0.{}", number)};
}

/// Repeat by repeat, so that a slow change of the machine hits all conditions alike.
std::vector<Cell> make_cells(const lab::Lab& lab)
{
  const auto conditions = [&lab](const std::vector<std::string>& group) {
    std::vector<Condition> wanted{Condition::baseline};
    if (!lab.faultless()) wanted.push_back(Condition::faulted);
    if (has_path(lab, group)) wanted.push_back(Condition::path);
    return wanted;
  };

  std::vector<Cell> cells;
  for (std::uint32_t repeat = 0; repeat < lab.measure.repeat; ++repeat)
    for (const auto& group : lab.groups)
      for (const Condition condition : conditions(group))
        cells.push_back({fmt::format("{}/{}/{}", fmt::join(group, "+"),
                                     Json(condition).get<std::string>(), repeat),
                         group, condition, repeat, mix64(lab.seed, repeat)});
  return cells;
}

} // namespace

std::uint64_t shaper_seed(const Cell& cell, std::size_t index)
{
  return mix64(cell.seed, index);
}

std::string rdma_type(const lab::Lab& lab, const Cell& cell)
{
  const bool iwarp =
      std::any_of(cell.traffic.begin(), cell.traffic.end(), [&](const std::string& name) {
        const lab::Traffic* traffic = find_traffic(lab, name);
        return traffic != nullptr && over_iwarp(*traffic);
      });
  return iwarp ? "siw" : "rxe";
}

std::string rdma_device(const HostNode& host, const std::string& type)
{
  constexpr std::string_view usual = "rxe"; // host_node()'s
  return host.rdma.empty() ? std::string{} : type + host.rdma.substr(usual.size());
}

Result<Plan> make_plan(const lab::Lab& lab)
{
  Plan plan;
  plan.lab = lab;
  if (plan.lab.groups.empty())
    for (const lab::Traffic& traffic : lab.traffic) plan.lab.groups.push_back({traffic.name});
  TRY(check_references(plan.lab));

  Fabric& fabric = plan.fabric;
  fabric.netns = "rl-fabric";
  fabric.bridge = "br0";
  fabric.mtu = lab.topology.mtu;
  fabric.offloads = lab.topology.offloads;
  for (const lab::Host& host : lab.topology.hosts) {
    fabric.hosts.push_back(host_node(host.name, fabric.hosts.size()));
    if (host.name == "fabric")
      return usage_error("plan host 'fabric': the fabric's own namespace has that name",
                         "call the host something else");
  }
  TRY_ASSIGN(fabric.shapers, make_shapers(plan.lab, fabric.hosts));
  plan.cells = make_cells(plan.lab);
  return plan;
}

} // namespace rdmalab::plan
