#include "plan/plan.h"

#include "base/json.h"

namespace rdmalab::plan {

RDMALAB_JSON_ENUM(Condition, {{Condition::baseline, "baseline"},
                              {Condition::faulted, "faulted"},
                              {Condition::path, "path"}})
RDMALAB_JSON(Shaper, host, up, device, unfaulted, faulted, faults)
RDMALAB_JSON(HostNode, name, netns, device, port, rdma, mac, ip)
RDMALAB_JSON(Fabric, netns, bridge, mtu, offloads, hosts, shapers)
RDMALAB_JSON(Cell, id, traffic, condition, repeat, seed)
RDMALAB_JSON(Plan, version, lab, fabric, cells)

} // namespace rdmalab::plan
