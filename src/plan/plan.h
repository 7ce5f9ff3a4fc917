#pragma once

#include "base/json.h"
#include "lab/lab.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// A Plan is a Lab with every name, address, qdisc parameter and seed decided: what an engine executes.
/// A passive value: JSON both ways. Nothing in it depends on the machine.
namespace rdmalab::plan {

/// netem's parameters in its own terms (tc-netem(8), TCA_NETEM_* of linux/pkt_sched.h).
struct Netem {
  std::uint32_t limit_packets = 1000;
  std::uint64_t delay_ns = 0;
  std::uint64_t jitter_ns = 0;
  bool keep_order = true; ///< with jitter: a FIFO child, so that nothing overtakes
  std::uint64_t rate_bps = 0;
  std::uint64_t loss_ppm = 0;
  std::uint64_t loss_correlation_ppm = 0;
  bool gilbert_elliott = false; ///< then the four below, and loss_ppm is not used
  std::uint64_t ge_p_ppm = 0;
  std::uint64_t ge_r_ppm = 0;
  std::uint64_t ge_bad_loss_ppm = 0;
  std::uint64_t ge_good_loss_ppm = 0;
  std::uint64_t duplicate_ppm = 0;
  std::uint64_t duplicate_correlation_ppm = 0;
  std::uint64_t corrupt_ppm = 0;
  std::uint64_t corrupt_correlation_ppm = 0;
  std::uint64_t reorder_ppm = 0;
  std::uint64_t reorder_correlation_ppm = 0;
  std::uint32_t reorder_gap = 0;
  std::uint64_t seed = 0;
  bool operator==(const Netem&) const = default;
};
RDMALAB_JSON(Netem, limit_packets, delay_ns, jitter_ns, keep_order, rate_bps, loss_ppm, loss_correlation_ppm,
             gilbert_elliott, ge_p_ppm, ge_r_ppm, ge_bad_loss_ppm, ge_good_loss_ppm, duplicate_ppm,
             duplicate_correlation_ppm, corrupt_ppm, corrupt_correlation_ppm, reorder_ppm, reorder_correlation_ppm,
             reorder_gap, seed)

/// One netem qdisc on the fabric. `down` sits at the egress of the host's port, `up` on an ifb behind its ingress.
struct Shaper {
  std::string host;
  bool up = false;
  std::string device; ///< inside the fabric's namespace: the port, or the ifb
  Netem unfaulted;    ///< from the start of the cell
  Netem faulted;      ///< from the moment traffic is set up, in faulted cells
};
RDMALAB_JSON(Shaper, host, up, device, unfaulted, faulted)

/// A host of the lab, in kernel names. All namespaces of a run share the plan's prefix.
struct HostNode {
  std::string name;       ///< the lab's
  std::string netns;      ///< "rl-client"
  std::string device;     ///< veth end in the host: "eth0"
  std::string port;       ///< veth end in the fabric: "p0"
  std::string rdma;       ///< rxe device: "rxe0"
  std::string mac;        ///< "02:00:00:00:00:01"
  std::string ip;         ///< "10.0.0.1", /24
};
RDMALAB_JSON(HostNode, name, netns, device, port, rdma, mac, ip)

struct Fabric {
  std::string netns;  ///< "rl-fabric"
  std::string bridge; ///< "br0"
  std::uint32_t mtu = 1500;
  bool offloads = false;
  std::vector<HostNode> hosts;
  std::vector<Shaper> shapers;
};
RDMALAB_JSON(Fabric, netns, bridge, mtu, offloads, hosts, shapers)

enum class Condition { baseline, faulted };
NLOHMANN_JSON_SERIALIZE_ENUM(Condition, {{Condition::baseline, "baseline"}, {Condition::faulted, "faulted"}})

/// The unit of execution: traffics that run together, one condition, one repeat; a fresh kernel's worth of state.
struct Cell {
  std::string id; ///< "roce/faulted/2", unique in the plan and stable
  std::vector<std::string> traffic;
  Condition condition = Condition::baseline;
  std::uint32_t repeat = 0;
  std::uint64_t seed = 0; ///< of netem, PSNs and payloads in this cell
};
RDMALAB_JSON(Cell, id, traffic, condition, repeat, seed)

struct Plan {
  std::uint32_t version = 1;
  lab::Lab lab;
  Fabric fabric; ///< with seeds 0; a cell's seed goes in when it is executed
  std::vector<Cell> cells;
};
RDMALAB_JSON(Plan, version, lab, fabric, cells)

} // namespace rdmalab::plan
