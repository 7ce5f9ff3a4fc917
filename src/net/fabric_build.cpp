#include "net/address.h"
#include "net/fabric_state.h"

#include <cerrno>

#include <linux/netlink.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

namespace rdmalab::net {

namespace {

/// Packets that may wait for a CPU. An rxe QP may have 64 skbs there
/// (RXE_INFLIGHT_SKBS_PER_QP_HIGH), and beyond the limit a packet that crosses a veth is a local
/// error to rxe, no loss. Default 1000.
constexpr std::uint64_t backlog_packets = 65'536;

/// Fabric devices have fixed addresses, so that nothing random is drawn: the host's with 0xfe or
/// 0xfd in the second byte; all locally administered.
Mac fabric_mac(Mac mac, std::uint8_t mark)
{
  mac[1] = mark;
  return mac;
}

Result<NetNamespace> make_namespace(const std::string& name)
{
  TRY_ASSIGN(NetNamespace ns,
             name.empty() ? NetNamespace::anonymous() : NetNamespace::create(name));
  TRY(disable_ipv6(ns));
  return ns;
}

Result<NlSocket> socket_in(const NetNamespace& ns, int protocol)
{
  return run_in(ns, [&] { return NlSocket::open(protocol); });
}

} // namespace

Status Fabric::State::build()
{
  TRY_ASSIGN(const NetNamespace home, NetNamespace::current());
  // The limit exists in the first namespace only; without it there just is less room.
  if (auto raised = RaisedSysctl::raise(home, "net/core/netdev_max_backlog", backlog_packets);
      raised)
    backlog = std::move(*raised);
  else
    spdlog::warn("{}; many QPs at once may then fail locally", raised.error().message());

  TRY_ASSIGN(ns, make_namespace(spec.netns));
  TRY_ASSIGN(route, socket_in(ns, NETLINK_ROUTE));
  TRY_ASSIGN(bridge, Link::bridge(*route, spec.bridge, Mac{0x02, 0xfd, 0, 0, 0, 0}, spec.mtu));
  for (const HostSpec& host : spec.hosts) TRY(add_host(host));
  TRY(connect_hosts());
  TRY(read_offloads());
  for (const ShaperSpec& shaper : spec.shapers) TRY(add_shaper(shaper));
  for (const auto& host : hosts) {
    TRY(assert_noqueue(host->route, host->spec.device));
    if (!host->spec.rdma.empty()) TRY(add_rdma(*host));
  }
  return {};
}

Status Fabric::State::add_host(const HostSpec& spec_of_host)
{
  TRY_ASSIGN(const Mac mac, parse_mac(spec_of_host.mac));
  TRY_ASSIGN(NetNamespace host_ns, make_namespace(spec_of_host.netns));
  TRY_ASSIGN(NlSocket socket, socket_in(host_ns, NETLINK_ROUTE));
  hosts.push_back(std::make_unique<FabricHost>(
      FabricHost{spec_of_host, std::move(host_ns), std::move(socket)}));
  FabricHost& host = *hosts.back();

  VethSpec veth;
  veth.device = host.spec.port;
  veth.device_mac = fabric_mac(mac, 0xfe);
  veth.peer = host.spec.device;
  veth.peer_mac = mac;
  veth.peer_namespace = host.ns.fd();
  veth.mtu = spec.mtu;
  veth.master = bridge.index();
  TRY_ASSIGN(host.port, Link::veth(*route, veth));
  TRY(set_up(host.route, "lo"));
  TRY(set_up(host.route, host.spec.device));
  return {};
}

Status Fabric::State::connect_hosts()
{
  for (const auto& host : hosts) {
    TRY(wait_running(*route, host->spec.port));
    TRY_ASSIGN(const LinkState device, wait_running(host->route, host->spec.device));
    host->device_index = device.index;
    TRY(add_address(host->route, device.index, host->spec.ip, host->spec.prefix));
    TRY(add_forwarding(*route, host->port.index(), host->spec.mac));
  }
  for (const auto& host : hosts)
    for (const auto& other : hosts)
      if (host != other)
        TRY(add_neighbour(host->route, host->device_index, other->spec.ip, other->spec.mac));
  return {};
}

Status Fabric::State::read_offloads()
{
  TRY_ASSIGN(Ethtool inside, Ethtool::open(ns));
  const auto handle = [&](Ethtool& ethtool, const std::string& host,
                          const std::string& device) -> Status {
    TRY_ASSIGN(const auto on, spec.offloads ? ethtool.batching_offloads(device)
                                            : ethtool.disable_batching(device));
    offloads[host + " " + device] = fmt::format("{}", fmt::join(on, ","));
    return {};
  };
  for (const auto& host : hosts) {
    TRY_ASSIGN(Ethtool ethtool, Ethtool::open(host->ns));
    TRY(handle(ethtool, host->spec.name, host->spec.device));
    TRY(handle(inside, host->spec.name, host->spec.port));
  }
  return {};
}

Status Fabric::State::add_shaper(const ShaperSpec& spec_of_shaper)
{
  const FabricHost* host = find(spec_of_shaper.host);
  if (host == nullptr) return system_error(ENOENT, "find host " + spec_of_shaper.host);
  shapers.push_back(std::make_unique<FabricShaper>(FabricShaper{spec_of_shaper}));
  FabricShaper& shaper = *shapers.back();
  if (shaper.spec.up) {
    TRY_ASSIGN(shaper.ifb, Link::ifb(*route, shaper.spec.device, spec.mtu));
    shaper.index = shaper.ifb.index();
    TRY(set_netem(*route, QdiscVerb::replace, shaper.index, shaper.spec.unfaulted));
    return redirect_ingress(*route, host->port.index(), shaper.index);
  }
  shaper.index = host->port.index();
  return set_netem(*route, QdiscVerb::add, shaper.index, shaper.spec.unfaulted);
}

Status Fabric::State::add_rdma(FabricHost& host)
{
  TRY_ASSIGN(host.rdma, socket_in(host.ns, NETLINK_RDMA));
  const HostSpec& spec_of_host = host.spec;
  TRY_ASSIGN(host.rdma_link, RdmaLink::create(*host.rdma, spec_of_host.rdma, spec_of_host.rdma_type,
                                              spec_of_host.device));
  return {};
}

Status Fabric::State::teardown()
{
  // One after the other, never at once: rxe_net_del() races with a network device that is leaving.
  // The first Error is told, but everything is tried.
  Status first;
  const auto attempt = [&](Status status) {
    if (!status && first) first = std::move(status);
  };
  for (const auto& host : hosts) attempt(host->rdma_link.remove());
  for (const auto& shaper : shapers) attempt(shaper->ifb.remove());
  for (const auto& host : hosts) attempt(host->port.remove());
  attempt(bridge.remove());
  shapers.clear();
  for (const auto& host : hosts) attempt(host->ns.remove());
  hosts.clear();
  route.reset();
  attempt(ns.remove());
  backlog = {};
  return first;
}

FabricHost* Fabric::State::find(const std::string& name) const
{
  for (const auto& host : hosts)
    if (host->spec.name == name) return host.get();
  return nullptr;
}

} // namespace rdmalab::net
