#pragma once

#include "net/fabric.h"
#include "net/link.h"
#include "net/netns.h"
#include "net/offload.h"
#include "net/qdisc.h"
#include "net/rdma.h"
#include "net/socket.h"
#include "net/sysctl.h"

#include <optional>

/// The kernel objects behind a Fabric; a header of this room only.
namespace rdmalab::net {

struct FabricHost {
  HostSpec spec;
  NetNamespace ns;
  NlSocket route;                 ///< NETLINK_ROUTE inside ns
  std::optional<NlSocket> rdma{}; ///< NETLINK_RDMA inside ns
  std::uint32_t device_index = 0;
  Link port{}; ///< the fabric's end; the host's end goes with it
  RdmaLink rdma_link{};
};

struct FabricShaper {
  ShaperSpec spec;
  std::uint32_t index = 0; ///< of the device that carries the netem
  Link ifb{};              ///< of an `up` shaper
  Netem requested{};       ///< by the last apply()
  QdiscCounters start{};   ///< at the last apply()
};

/// Hosts and shapers are on the heap because links point to sockets.
struct Fabric::State {
  FabricSpec spec;
  RaisedSysctl backlog;
  NetNamespace ns;
  std::optional<NlSocket> route; ///< NETLINK_ROUTE inside ns
  Link bridge;
  std::vector<std::unique_ptr<FabricHost>> hosts;
  std::vector<std::unique_ptr<FabricShaper>> shapers;
  std::map<std::string, std::string> offloads;

  Status build();
  Status add_host(const HostSpec& spec_of_host);
  Status connect_hosts();
  Status read_offloads();
  Status add_shaper(const ShaperSpec& spec_of_shaper);
  Status add_rdma(FabricHost& host);
  Status teardown();
  [[nodiscard]] FabricHost* find(const std::string& name) const;
};

} // namespace rdmalab::net
