#include "fault/trace.h"

#include "fault.h"
#include "wire/packet.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace rdmalab::fault {

namespace {

struct Place {
  std::uint64_t time = 0;
  std::size_t offset = 0; ///< of the record
};

fault_record header_at(wire::Bytes records, std::size_t offset)
{
  fault_record header{};
  std::memcpy(&header, records.data() + offset, sizeof(header));
  return header;
}

bool tag_is_missing(const fault_record& header)
{
  return header.has_vlan != 0 && header.captured >= wire::ethernet_bytes;
}

/// Appends the frame's bytes, its tag where it belongs.
void append_frame(std::vector<std::byte>& to, const fault_record& header, wire::Bytes frame)
{
  constexpr std::size_t addresses = wire::ethernet_bytes - 2;
  if (!tag_is_missing(header)) {
    to.insert(to.end(), frame.begin(), frame.end());
    return;
  }
  const wire::Bytes before = frame.first(addresses);
  const wire::Bytes behind = frame.subspan(addresses);
  to.insert(to.end(), before.begin(), before.end());
  to.resize(to.size() + wire::vlan_bytes);
  wire::Writer tag(wire::MutableBytes(to).last(wire::vlan_bytes));
  tag.u16(wire::ether_type_vlan);
  tag.u16(header.vlan_tci);
  to.insert(to.end(), behind.begin(), behind.end());
}

} // namespace

CapturedTrace decode_trace(wire::Bytes records, std::size_t record_bytes, std::uint64_t start_ns)
{
  std::vector<Place> places;
  std::size_t storage = 0;
  for (std::size_t at = 0; at + record_bytes <= records.size(); at += record_bytes) {
    const fault_record header = header_at(records, at);
    places.push_back({header.time, at});
    storage += header.captured + (tag_is_missing(header) ? wire::vlan_bytes : 0);
  }
  std::ranges::stable_sort(places, {}, &Place::time);

  CapturedTrace captured;
  captured.storage.reserve(storage); // so that no span into it goes stale
  captured.trace.packets.reserve(places.size());
  for (const Place& place : places) {
    const fault_record header = header_at(records, place.offset);
    const std::size_t begin = captured.storage.size();
    const std::size_t kept =
        std::min<std::size_t>(header.captured, record_bytes - sizeof(fault_record));
    append_frame(captured.storage, header,
                 records.subspan(place.offset + sizeof(fault_record), kept));
    wire::TracedPacket packet;
    packet.time_ns = place.time > start_ns ? place.time - start_ns : 0;
    packet.host = header.host;
    packet.point =
        header.point == +FAULT_ARRIVED ? wire::TracePoint::arrived : wire::TracePoint::entered;
    packet.action = static_cast<wire::FaultAction>(header.action);
    packet.rule = header.rule;
    packet.wire_length =
        header.wire_length + (header.has_vlan != 0 ? std::uint32_t{wire::vlan_bytes} : 0);
    packet.bytes = wire::Bytes(captured.storage).subspan(begin);
    captured.trace.packets.push_back(packet);
  }
  return captured;
}

} // namespace rdmalab::fault
