#include "analysis/trace_flows.h"

#include "base/json.h"

namespace rdmalab::analysis {

RDMALAB_JSON(VerbsFlow, traffic, qp, initiator, target, initiator_qpn, target_qpn, initiator_psn,
             target_psn, path_mtu, ack_timeout_ns)
RDMALAB_JSON(TcpFlow, traffic, stream, client, server, client_port, server_port)
RDMALAB_JSON(TraceFlows, verbs, tcp, begin_ns, end_ns, link_bps, link_payload_ppm, netem_drops)

} // namespace rdmalab::analysis
