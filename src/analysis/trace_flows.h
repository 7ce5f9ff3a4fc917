#pragma once

#include "base/json_fwd.h"

#include <cstdint>
#include <string>
#include <vector>

/// Which packets of a trace belong together: what the engine knows and a trace doesn't say.
namespace rdmalab::analysis {

/// One RC queue pair of a traffic, both ends.
struct VerbsFlow {
  std::string traffic;
  std::uint32_t qp = 0; ///< of this traffic, from 0 in order of creation
  std::string initiator;
  std::string target;
  std::uint32_t initiator_qpn = 0;
  std::uint32_t target_qpn = 0;
  std::uint32_t initiator_psn = 0;  ///< of the initiator's first request
  std::uint32_t target_psn = 0;     ///< of the target's first request, should it make any
  std::uint32_t path_mtu = 0;       ///< IB path MTU, bytes; 0: unknown
  std::uint64_t ack_timeout_ns = 0; ///< local ACK timeout; 0: never
};
RDMALAB_JSON_DECLARE(VerbsFlow)

/// One TCP connection of a traffic.
struct TcpFlow {
  std::string traffic;
  std::uint32_t stream = 0; ///< of this traffic, from 0
  std::string client;
  std::string server;
  std::uint16_t client_port = 0;
  std::uint16_t server_port = 0;
};
RDMALAB_JSON_DECLARE(TcpFlow)

/// All flows of a cell, and what holds for all of them.
struct TraceFlows {
  std::vector<VerbsFlow> verbs;
  std::vector<TcpFlow> tcp;
  std::uint64_t begin_ns = 0; ///< the measuring window on the trace's clock: [begin, end)
  std::uint64_t end_ns = 0;
  std::uint64_t link_bps = 0;         ///< 0: the link has no rate
  std::uint32_t link_payload_ppm = 0; ///< of the link's bits, how many are payload; 0: unknown
  bool netem_drops = false; ///< a netem that may lose packets stands between the two points
};
RDMALAB_JSON_DECLARE(TraceFlows)

} // namespace rdmalab::analysis
