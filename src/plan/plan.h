#pragma once

#include "base/json_fwd.h"
#include "base/netem.h"
#include "lab/lab.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// A Plan is a Lab with every name, address, qdisc parameter and seed decided: what an engine
/// executes. A passive value: JSON both ways. Nothing in it depends on the machine.
namespace rdmalab::plan {

/// One netem qdisc on the fabric. `down` sits at the egress of the host's port, `up` on an ifb
/// behind its ingress.
struct Shaper {
  std::string host;
  bool up = false;
  std::string device;              ///< inside the fabric's namespace: the port, or the ifb
  Netem unfaulted;                 ///< from the start of the cell
  Netem faulted;                   ///< from the moment traffic is set up, in faulted cells
  std::vector<std::string> faults; ///< names of the lab's faults that `faulted` holds
};
RDMALAB_JSON_DECLARE(Shaper)

/// A host of the lab, in kernel names. All namespaces of a run share the plan's prefix.
struct HostNode {
  std::string name;   ///< the lab's
  std::string netns;  ///< "rl-client"
  std::string device; ///< veth end in the host: "eth0"
  std::string port;   ///< veth end in the fabric: "p0"
  std::string rdma;   ///< RDMA device: "rxe0"; in a cell of iWARP "siw0"
  std::string mac;    ///< "02:00:00:00:00:01"
  std::string ip;     ///< "10.0.0.1", /24
};
RDMALAB_JSON_DECLARE(HostNode)

struct Fabric {
  std::string netns;  ///< "rl-fabric"
  std::string bridge; ///< "br0"
  std::uint32_t mtu = 1500;
  bool offloads = false;
  std::vector<HostNode> hosts;
  std::vector<Shaper> shapers;
};
RDMALAB_JSON_DECLARE(Fabric)

/// `path` is the baseline once more with the path ledger, whose cost is so in no other figure.
enum class Condition { baseline, faulted, path };
RDMALAB_JSON_DECLARE(Condition)

/// The unit of execution: traffics that run together, one condition, one repeat; a fresh kernel's
/// worth of state.
struct Cell {
  std::string id; ///< "roce/faulted/2", unique in the plan and stable
  std::vector<std::string> traffic;
  Condition condition = Condition::baseline;
  std::uint32_t repeat = 0;
  std::uint64_t seed = 0; ///< of netem, PSNs and payloads in this cell
};
RDMALAB_JSON_DECLARE(Cell)

struct Plan {
  std::uint32_t version = 1;
  lab::Lab lab;
  Fabric fabric; ///< with seeds 0; a cell's seed goes in when it is executed
  std::vector<Cell> cells;
};
RDMALAB_JSON_DECLARE(Plan)

} // namespace rdmalab::plan
