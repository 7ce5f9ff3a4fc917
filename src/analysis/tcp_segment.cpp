#include "analysis/tcp_segment.h"

#include <algorithm>

namespace rdmalab::analysis {
namespace {

/// Option kinds (IANA, TCP parameters).
constexpr std::uint8_t tcp_option_end = 0;
constexpr std::uint8_t tcp_option_nop = 1;
constexpr std::uint8_t tcp_option_sack = 5;
constexpr std::uint8_t tcp_option_timestamps = 8;

void read_options(wire::Reader& reader, TcpSegment& segment)
{
  while (reader.remaining() > 0) {
    const std::uint8_t kind = reader.u8();
    if (kind == tcp_option_end) return;
    if (kind == tcp_option_nop) continue;
    const std::uint8_t length = reader.u8();
    if (!reader.ok() || length < 2) return;
    wire::Reader body(reader.bytes(length - 2U));
    if (!reader.ok()) return;
    if (kind == tcp_option_timestamps && body.remaining() == 8) {
      segment.has_timestamps = true;
      segment.timestamp = body.u32();
      segment.timestamp_echo = body.u32();
    }
    while (kind == tcp_option_sack && body.remaining() >= 8) {
      const std::uint32_t left = body.u32();
      segment.sack.emplace_back(left, body.u32());
    }
  }
}

} // namespace

TcpSegment decode_tcp(wire::Bytes frame, const wire::Packet& packet)
{
  TcpSegment segment;
  segment.sequence = packet.sequence;
  segment.acknowledgement = packet.acknowledgement;
  segment.flags = packet.tcp_flags;
  segment.length = static_cast<std::uint32_t>(packet.payload_length);
  if ((packet.tcp_flags & wire::tcp_syn) != 0) ++segment.length;
  if ((packet.tcp_flags & wire::tcp_fin) != 0) ++segment.length;
  const std::size_t begin = packet.transport_offset + wire::tcp_bytes;
  const std::size_t end =
      std::min(packet.transport_offset + packet.transport_header_length, frame.size());
  if (begin < end) {
    wire::Reader options(frame.subspan(begin, end - begin));
    read_options(options, segment);
  }
  return segment;
}

} // namespace rdmalab::analysis
