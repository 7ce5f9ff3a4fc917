#pragma once

#include "analysis/timeline.h"

#include <string>
#include <string_view>

namespace rdmalab::analysis {

/// "WRITE middle", "READ request", "ACK", "NAK", "RNR NAK".
inline std::string packet_label(const Passage& p)
{
  if (p.packet_class == wire::PacketClass::nak) return "NAK";
  if (p.packet_class == wire::PacketClass::rnr) return "RNR NAK";
  if (p.packet_class == wire::PacketClass::ack) return "ACK";
  if (p.packet_class == wire::PacketClass::read_request) return "READ request";
  if (p.packet_class == wire::PacketClass::atomic) return "ATOMIC";
  if (p.packet_class == wire::PacketClass::atomic_ack) return "ATOMIC ACK";
  std::string_view kind = "data";
  if (p.packet_class == wire::PacketClass::read_response)
    kind = "READ response";
  else if (p.opcode != nullptr)
    kind = p.opcode->name.find("WRITE") != std::string_view::npos ? "WRITE" : "SEND";
  const auto position = p.opcode != nullptr ? p.opcode->position : wire::Position::none;
  if (position == wire::Position::none) return std::string(kind);
  return std::string(kind) + " " + std::string(wire::to_string(position));
}

} // namespace rdmalab::analysis
