#pragma once

#include "fault/rule.h"

#include <cstdint>
#include <string>

namespace rdmalab::fault {

/// One direction of a QP or of a TCP stream. A RoCE flow is all packets to one QPN: for a QP that
/// requests, the flow to the responder holds requests, the flow back ACKs, NAKs and read responses;
/// both number by the requester's PSNs, so both have its first PSN.
struct FlowKey {
  std::string name;
  Transport transport = Transport::roce;
  std::uint8_t from = 0; ///< index into the hosts
  std::uint8_t to = 0;
  std::uint32_t destination_qpn = 0;
  std::uint32_t first_psn = 0;
  std::uint16_t source_port = 0; ///< TCP
  std::uint16_t destination_port = 0;
  /// What a probability knows the flow by: the same in every run of the lab, of no other flow.
  std::uint64_t identity = 0;
  /// What rules of a seed group know it by: the same for the RoCE and the TCP flow that are to lose
  /// the same packets.
  std::uint64_t ordinal = 0;
};

} // namespace rdmalab::fault
