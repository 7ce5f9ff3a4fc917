#pragma once

#include "wire/aeth.h"
#include "wire/bytes.h"
#include "wire/opcode.h"
#include "wire/packet.h"
#include "wire/psn.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace rdmalab::wire {

inline constexpr std::size_t bth_bytes = 12;
inline constexpr std::size_t deth_bytes = 8;
inline constexpr std::size_t reth_bytes = 16;
inline constexpr std::size_t atomic_eth_bytes = 28;
inline constexpr std::size_t aeth_bytes = 4;
inline constexpr std::size_t atomic_ack_eth_bytes = 8;
inline constexpr std::size_t immediate_bytes = 4;
inline constexpr std::size_t ieth_bytes = 4;
inline constexpr std::size_t icrc_bytes = 4;
/// A CNP carries 16 reserved bytes behind its BTH (IB specification vol. 1, annex A17.9.3).
inline constexpr std::size_t cnp_reserved_bytes = 16;

/// Base Transport Header (IB specification vol. 1, 9.2).
struct Bth {
  std::uint8_t opcode = 0;
  bool solicited = false;
  bool migrated = true;
  std::uint8_t pad = 0; ///< bytes behind the payload that make it a multiple of 4
  std::uint8_t version = 0;
  std::uint16_t partition_key = 0xffff;
  bool fecn = false;
  bool becn = false;
  std::uint8_t reserved6 = 0;
  std::uint32_t destination_qp = 0;
  bool ack_request = false;
  std::uint8_t reserved7 = 0;
  std::uint32_t psn = 0;
  bool operator==(const Bth&) const = default;
};

/// Datagram ETH (9.3.2).
struct Deth {
  std::uint32_t queue_key = 0;
  std::uint32_t source_qp = 0;
  bool operator==(const Deth&) const = default;
};

/// RDMA ETH (9.3.3).
struct Reth {
  std::uint64_t address = 0;
  std::uint32_t remote_key = 0;
  std::uint32_t length = 0; ///< of the whole message, bytes
  bool operator==(const Reth&) const = default;
};

/// Atomic ETH (9.3.4).
struct AtomicEth {
  std::uint64_t address = 0;
  std::uint32_t remote_key = 0;
  std::uint64_t swap_or_add = 0;
  std::uint64_t compare = 0;
  bool operator==(const AtomicEth&) const = default;
};

/// ACK ETH (9.3.5).
struct Aeth {
  std::uint8_t syndrome = 0; ///< see Syndrome
  std::uint32_t msn = 0;     ///< message sequence number, 24 bits
  bool operator==(const Aeth&) const = default;
};

/// Atomic ACK ETH (9.3.5.3).
struct AtomicAckEth {
  std::uint64_t original = 0; ///< what stood in the memory before
  bool operator==(const AtomicAckEth&) const = default;
};

/// BTH and the extended headers behind it. Which of them a packet has follows from its opcode:
/// `headers_of()` makes a set that fits.
struct RoceHeaders {
  Bth bth{};
  std::optional<Deth> deth;
  std::optional<Reth> reth;
  std::optional<AtomicEth> atomic_eth;
  std::optional<Aeth> aeth;
  std::optional<AtomicAckEth> atomic_ack_eth;
  std::optional<std::uint32_t> immediate;      ///< ImmDt (9.3.6)
  std::optional<std::uint32_t> invalidate_key; ///< IETH (9.3.7)
  bool operator==(const RoceHeaders&) const = default;
};

/// The headers of an opcode, with every extended header that it needs at its default.
RoceHeaders headers_of(const Opcode& opcode);

/// How long the extended headers of these Extension bits are together, bytes.
std::size_t extension_bytes(std::uint8_t extensions);

/// The length of the headers when encoded, bytes.
std::size_t encoded_bytes(const RoceHeaders& headers);
/// Writes BTH and the extended headers that are set, in the specification's order. Returns whether
/// the writer had the room.
bool encode(const RoceHeaders& headers, Writer& writer);
/// Reads BTH and the extended headers that its opcode asks for. Empty if the BTH is cut off; an
/// extended header that is cut off stays empty. An unknown opcode has none.
std::optional<RoceHeaders> decode_headers(Reader& reader);

/// A RoCEv2 packet. Offsets are from the frame's first byte.
struct RocePacket {
  RoceHeaders headers{};
  const Opcode* opcode = nullptr; ///< null if it is unknown
  PacketClass packet_class = PacketClass::other;
  std::size_t payload_offset = 0;
  std::size_t payload_length = 0; ///< application bytes on the wire: without padding and ICRC
  std::size_t icrc_offset = 0;    ///< may lie past the end of a truncated capture
  bool malformed = false;         ///< UDP's payload is too short for what the opcode needs

  [[nodiscard]] Position position() const { return opcode ? opcode->position : Position::none; }
  /// The acknowledgement's meaning, if the packet has an AETH.
  [[nodiscard]] std::optional<Syndrome> syndrome() const
  {
    if (!headers.aeth) return {};
    return Syndrome::decode(headers.aeth->syndrome);
  }
};

/// Decodes a RoCEv2 packet. Empty if it is none (`packet.is_roce()`) or its BTH isn't captured.
std::optional<RocePacket> decode_roce(Bytes frame, const Packet& packet);

} // namespace rdmalab::wire
