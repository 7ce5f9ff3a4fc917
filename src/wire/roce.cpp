#include "wire/roce.h"

#include <algorithm>

namespace rdmalab::wire {
namespace {

constexpr std::uint32_t qp_mask = 0xffffff;

void encode_bth(const Bth& bth, Writer& writer)
{
  writer.u8(bth.opcode);
  writer.u8(static_cast<std::uint8_t>((bth.solicited ? 0x80U : 0U) | (bth.migrated ? 0x40U : 0U) |
                                      (bth.pad & 3U) << 4U | (bth.version & 0xfU)));
  writer.u16(bth.partition_key);
  writer.u8(static_cast<std::uint8_t>((bth.fecn ? 0x80U : 0U) | (bth.becn ? 0x40U : 0U) |
                                      (bth.reserved6 & 0x3fU)));
  writer.u24(bth.destination_qp & qp_mask);
  writer.u8(static_cast<std::uint8_t>((bth.ack_request ? 0x80U : 0U) | (bth.reserved7 & 0x7fU)));
  writer.u24(bth.psn & psn_mask);
}

Bth decode_bth(Reader& reader)
{
  Bth bth;
  bth.opcode = reader.u8();
  const std::uint8_t flags = reader.u8();
  bth.solicited = (flags & 0x80U) != 0;
  bth.migrated = (flags & 0x40U) != 0;
  bth.pad = flags >> 4U & 3U;
  bth.version = flags & 0xfU;
  bth.partition_key = reader.u16();
  const std::uint8_t congestion = reader.u8();
  bth.fecn = (congestion & 0x80U) != 0;
  bth.becn = (congestion & 0x40U) != 0;
  bth.reserved6 = congestion & 0x3fU;
  bth.destination_qp = reader.u24();
  const std::uint8_t acknowledge = reader.u8();
  bth.ack_request = (acknowledge & 0x80U) != 0;
  bth.reserved7 = acknowledge & 0x7fU;
  bth.psn = reader.u24();
  return bth;
}

// The members of a braced list are evaluated in order, hence the fields are read in order.
Deth read_deth(Reader& reader)
{
  const std::uint32_t key = reader.u32();
  reader.skip(1);
  return {key, reader.u24()};
}
Reth read_reth(Reader& reader)
{
  return {reader.u64(), reader.u32(), reader.u32()};
}
AtomicEth read_atomic_eth(Reader& reader)
{
  return {reader.u64(), reader.u32(), reader.u64(), reader.u64()};
}
Aeth read_aeth(Reader& reader)
{
  return {reader.u8(), reader.u24()};
}
AtomicAckEth read_atomic_ack_eth(Reader& reader)
{
  return {reader.u64()};
}
std::uint32_t read_word(Reader& reader)
{
  return reader.u32();
}

/// Reads a header if the opcode has it and the capture holds it.
template <typename T>
void read_if(bool wanted, Reader& reader, std::optional<T>& to, T (*read)(Reader&))
{
  if (!wanted) return;
  T value = read(reader);
  if (reader.ok()) to = value;
}

std::uint8_t extensions_of(const RoceHeaders& headers)
{
  return static_cast<std::uint8_t>(
      (headers.deth ? has_deth : 0) | (headers.reth ? has_reth : 0) |
      (headers.atomic_eth ? has_atomic_eth : 0) | (headers.aeth ? has_aeth : 0) |
      (headers.atomic_ack_eth ? has_atomic_ack_eth : 0) | (headers.immediate ? has_immediate : 0) |
      (headers.invalidate_key ? has_ieth : 0));
}

} // namespace

RoceHeaders headers_of(const Opcode& opcode)
{
  RoceHeaders headers;
  headers.bth.opcode = opcode.code;
  const auto has = [&](Extension extension) { return (opcode.extensions & extension) != 0; };
  if (has(has_deth)) headers.deth.emplace();
  if (has(has_reth)) headers.reth.emplace();
  if (has(has_atomic_eth)) headers.atomic_eth.emplace();
  if (has(has_aeth)) headers.aeth.emplace();
  if (has(has_atomic_ack_eth)) headers.atomic_ack_eth.emplace();
  if (has(has_immediate)) headers.immediate.emplace();
  if (has(has_ieth)) headers.invalidate_key.emplace();
  return headers;
}

std::size_t extension_bytes(std::uint8_t extensions)
{
  const auto length = [&](Extension extension, std::size_t bytes) {
    return (extensions & extension) != 0 ? bytes : 0;
  };
  return length(has_deth, deth_bytes) + length(has_reth, reth_bytes) +
         length(has_atomic_eth, atomic_eth_bytes) + length(has_aeth, aeth_bytes) +
         length(has_atomic_ack_eth, atomic_ack_eth_bytes) + length(has_immediate, immediate_bytes) +
         length(has_ieth, ieth_bytes);
}

std::size_t encoded_bytes(const RoceHeaders& headers)
{
  return bth_bytes + extension_bytes(extensions_of(headers));
}

bool encode(const RoceHeaders& headers, Writer& writer)
{
  encode_bth(headers.bth, writer);
  if (headers.deth) {
    writer.u32(headers.deth->queue_key);
    writer.u32(headers.deth->source_qp & qp_mask);
  }
  if (headers.reth) {
    writer.u64(headers.reth->address);
    writer.u32(headers.reth->remote_key);
    writer.u32(headers.reth->length);
  }
  if (headers.atomic_eth) {
    writer.u64(headers.atomic_eth->address);
    writer.u32(headers.atomic_eth->remote_key);
    writer.u64(headers.atomic_eth->swap_or_add);
    writer.u64(headers.atomic_eth->compare);
  }
  if (headers.aeth) {
    writer.u8(headers.aeth->syndrome);
    writer.u24(headers.aeth->msn);
  }
  if (headers.atomic_ack_eth) writer.u64(headers.atomic_ack_eth->original);
  if (headers.immediate) writer.u32(*headers.immediate);
  if (headers.invalidate_key) writer.u32(*headers.invalidate_key);
  return writer.ok();
}

std::optional<RoceHeaders> decode_headers(Reader& reader)
{
  RoceHeaders headers;
  headers.bth = decode_bth(reader);
  if (!reader.ok()) return {};
  const Opcode* opcode = find_opcode(headers.bth.opcode);
  const std::uint8_t extensions = opcode ? opcode->extensions : 0;
  read_if((extensions & has_deth) != 0, reader, headers.deth, read_deth);
  read_if((extensions & has_reth) != 0, reader, headers.reth, read_reth);
  read_if((extensions & has_atomic_eth) != 0, reader, headers.atomic_eth, read_atomic_eth);
  read_if((extensions & has_aeth) != 0, reader, headers.aeth, read_aeth);
  read_if((extensions & has_atomic_ack_eth) != 0, reader, headers.atomic_ack_eth,
          read_atomic_ack_eth);
  read_if((extensions & has_immediate) != 0, reader, headers.immediate, read_word);
  read_if((extensions & has_ieth) != 0, reader, headers.invalidate_key, read_word);
  return headers;
}

std::optional<RocePacket> decode_roce(Bytes frame, const Packet& packet)
{
  if (!packet.is_roce()) return {};
  // Neither the ICRC nor what lies behind UDP's payload (Ethernet padding) is a header.
  const std::size_t without_icrc =
      packet.payload_length - std::min(packet.payload_length, icrc_bytes);
  const std::size_t readable = std::min(packet.payload_captured, without_icrc);
  Reader reader(frame.first(packet.payload_offset + readable), packet.payload_offset);
  auto headers = decode_headers(reader);
  if (!headers) return {};

  RocePacket result;
  result.headers = *headers;
  result.opcode = find_opcode(headers->bth.opcode);
  if (result.opcode != nullptr) {
    std::optional<std::uint8_t> syndrome;
    if (headers->aeth) syndrome = headers->aeth->syndrome;
    result.packet_class = classify(result.opcode, syndrome);
  }
  std::size_t before = bth_bytes + extension_bytes(result.opcode ? result.opcode->extensions : 0);
  if (result.packet_class == PacketClass::cnp) before += cnp_reserved_bytes;
  const std::size_t behind = headers->bth.pad + icrc_bytes;
  result.payload_offset = packet.payload_offset + before;
  result.malformed = packet.payload_length < before + behind;
  if (result.malformed) return result;
  result.payload_length = packet.payload_length - before - behind;
  result.icrc_offset = packet.payload_offset + packet.payload_length - icrc_bytes;
  return result;
}

} // namespace rdmalab::wire
