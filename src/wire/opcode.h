#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace rdmalab::wire {

/// The transport services, as BTH's opcode says them in its upper three bits (IB specification
/// vol. 1, 9.2.1). `cnp` is RoCEv2's congestion notification (annex A17.9.3).
enum class Service : std::uint8_t { rc, uc, ud, cnp };

/// What a packet does for its operation.
enum class Role : std::uint8_t {
  data, ///< SEND and RDMA WRITE requests
  read_request,
  read_response,
  acknowledge, ///< ACK, NAK or RNR NAK: the AETH's syndrome says which
  atomic,      ///< request
  atomic_acknowledge,
  cnp,
};

/// Where a packet stands in its message.
enum class Position : std::uint8_t { none, first, middle, last, only };

/// The extended transport headers behind the BTH, as bits. In a packet they stand in this order
/// (IB specification vol. 1, 9.3 and table 38).
enum Extension : std::uint8_t {
  has_deth = 1,
  has_reth = 2,
  has_atomic_eth = 4,
  has_aeth = 8,
  has_atomic_ack_eth = 16,
  has_immediate = 32,
  has_ieth = 64,
};

/// One opcode of BTH.
struct Opcode {
  std::uint8_t code;
  std::string_view name; ///< "RC_SEND_FIRST"
  Service service;
  Role role;
  Position position;
  std::uint8_t extensions; ///< Extension bits
};

/// Every opcode that rdmalab knows: RC, UC, UD and CNP, by code.
std::span<const Opcode> opcodes();
/// Null for an opcode that isn't among them.
const Opcode* find_opcode(std::uint8_t code);
/// By its name, "RC_ACKNOWLEDGE"; null if there is none of that name.
const Opcode* find_opcode(std::string_view name);

/// A packet's class: what fault rules match and the ledger counts. `other`: an unknown opcode, or
/// an acknowledgement with a reserved syndrome.
enum class PacketClass : std::uint8_t {
  data,
  ack,
  nak,
  rnr,
  read_request,
  read_response,
  atomic,
  atomic_ack,
  cnp,
  other,
};

/// The class of a packet with this opcode (null: unknown). An acknowledgement needs the syndrome of
/// its AETH, otherwise it is `other`.
PacketClass classify(const Opcode* opcode, std::optional<std::uint8_t> syndrome);

/// "read-request", as lab files write it.
std::string_view to_string(PacketClass value);
std::optional<PacketClass> parse_packet_class(std::string_view text);
/// "first"; "none" for a packet that is no part of a message.
std::string_view to_string(Position value);
std::string_view to_string(Service value);

} // namespace rdmalab::wire
