#include "wire/opcode.h"

#include "wire/aeth.h"

#include <algorithm>
#include <array>

namespace rdmalab::wire {
namespace {

using enum Role;
using enum Position;
using Service::rc;
using Service::uc;
using Service::ud;

/// IB specification vol. 1, table 38; the names are those of the field's tools.
constexpr auto table = std::to_array<Opcode>({
    {0x00, "RC_SEND_FIRST", rc, data, first, 0},
    {0x01, "RC_SEND_MIDDLE", rc, data, middle, 0},
    {0x02, "RC_SEND_LAST", rc, data, last, 0},
    {0x03, "RC_SEND_LAST_WITH_IMMEDIATE", rc, data, last, has_immediate},
    {0x04, "RC_SEND_ONLY", rc, data, only, 0},
    {0x05, "RC_SEND_ONLY_WITH_IMMEDIATE", rc, data, only, has_immediate},
    {0x06, "RC_RDMA_WRITE_FIRST", rc, data, first, has_reth},
    {0x07, "RC_RDMA_WRITE_MIDDLE", rc, data, middle, 0},
    {0x08, "RC_RDMA_WRITE_LAST", rc, data, last, 0},
    {0x09, "RC_RDMA_WRITE_LAST_WITH_IMMEDIATE", rc, data, last, has_immediate},
    {0x0a, "RC_RDMA_WRITE_ONLY", rc, data, only, has_reth},
    {0x0b, "RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE", rc, data, only, has_reth | has_immediate},
    {0x0c, "RC_RDMA_READ_REQUEST", rc, read_request, only, has_reth},
    {0x0d, "RC_RDMA_READ_RESPONSE_FIRST", rc, read_response, first, has_aeth},
    {0x0e, "RC_RDMA_READ_RESPONSE_MIDDLE", rc, read_response, middle, 0},
    {0x0f, "RC_RDMA_READ_RESPONSE_LAST", rc, read_response, last, has_aeth},
    {0x10, "RC_RDMA_READ_RESPONSE_ONLY", rc, read_response, only, has_aeth},
    {0x11, "RC_ACKNOWLEDGE", rc, acknowledge, none, has_aeth},
    {0x12, "RC_ATOMIC_ACKNOWLEDGE", rc, atomic_acknowledge, none, has_aeth | has_atomic_ack_eth},
    {0x13, "RC_COMPARE_SWAP", rc, atomic, only, has_atomic_eth},
    {0x14, "RC_FETCH_ADD", rc, atomic, only, has_atomic_eth},
    {0x16, "RC_SEND_LAST_WITH_INVALIDATE", rc, data, last, has_ieth},
    {0x17, "RC_SEND_ONLY_WITH_INVALIDATE", rc, data, only, has_ieth},
    {0x20, "UC_SEND_FIRST", uc, data, first, 0},
    {0x21, "UC_SEND_MIDDLE", uc, data, middle, 0},
    {0x22, "UC_SEND_LAST", uc, data, last, 0},
    {0x23, "UC_SEND_LAST_WITH_IMMEDIATE", uc, data, last, has_immediate},
    {0x24, "UC_SEND_ONLY", uc, data, only, 0},
    {0x25, "UC_SEND_ONLY_WITH_IMMEDIATE", uc, data, only, has_immediate},
    {0x26, "UC_RDMA_WRITE_FIRST", uc, data, first, has_reth},
    {0x27, "UC_RDMA_WRITE_MIDDLE", uc, data, middle, 0},
    {0x28, "UC_RDMA_WRITE_LAST", uc, data, last, 0},
    {0x29, "UC_RDMA_WRITE_LAST_WITH_IMMEDIATE", uc, data, last, has_immediate},
    {0x2a, "UC_RDMA_WRITE_ONLY", uc, data, only, has_reth},
    {0x2b, "UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE", uc, data, only, has_reth | has_immediate},
    {0x64, "UD_SEND_ONLY", ud, data, only, has_deth},
    {0x65, "UD_SEND_ONLY_WITH_IMMEDIATE", ud, data, only, has_deth | has_immediate},
    {0x81, "CNP", Service::cnp, Role::cnp, none, 0},
});

/// From the code to its place in the table plus one; 0 for an unknown code.
constexpr auto places = [] {
  std::array<std::uint8_t, 256> result{};
  for (std::size_t i = 0; i < table.size(); ++i)
    result[table[i].code] = static_cast<std::uint8_t>(i + 1);
  return result;
}();

constexpr std::array<std::string_view, 10> class_names{
    "data",          "ack",    "nak",        "rnr", "read-request",
    "read-response", "atomic", "atomic-ack", "cnp", "other"};

} // namespace

std::span<const Opcode> opcodes()
{
  return table;
}

const Opcode* find_opcode(std::uint8_t code)
{
  const std::uint8_t place = places[code];
  return place == 0 ? nullptr : &table[place - 1U];
}

const Opcode* find_opcode(std::string_view name)
{
  const auto* const found = std::ranges::find(table, name, &Opcode::name);
  return found == table.end() ? nullptr : found;
}

PacketClass classify(const Opcode* opcode, std::optional<std::uint8_t> syndrome)
{
  if (opcode == nullptr) return PacketClass::other;
  switch (opcode->role) {
  case data:
    return PacketClass::data;
  case read_request:
    return PacketClass::read_request;
  case read_response:
    return PacketClass::read_response;
  case atomic:
    return PacketClass::atomic;
  case atomic_acknowledge:
    return PacketClass::atomic_ack;
  case Role::cnp:
    return PacketClass::cnp;
  case acknowledge:
    break;
  }
  if (!syndrome) return PacketClass::other;
  switch (Syndrome::decode(*syndrome).kind) {
  case Syndrome::Kind::ack:
    return PacketClass::ack;
  case Syndrome::Kind::nak:
    return PacketClass::nak;
  case Syndrome::Kind::rnr_nak:
    return PacketClass::rnr;
  case Syndrome::Kind::reserved:
    break;
  }
  return PacketClass::other;
}

std::string_view to_string(PacketClass value)
{
  return class_names[static_cast<std::size_t>(value)];
}

std::optional<PacketClass> parse_packet_class(std::string_view text)
{
  const auto* const found = std::ranges::find(class_names, text);
  if (found == class_names.end()) return {};
  return static_cast<PacketClass>(found - class_names.begin());
}

std::string_view to_string(Position value)
{
  constexpr std::array<std::string_view, 5> names{"none", "first", "middle", "last", "only"};
  return names[static_cast<std::size_t>(value)];
}

std::string_view to_string(Service value)
{
  constexpr std::array<std::string_view, 4> names{"RC", "UC", "UD", "CNP"};
  return names[static_cast<std::size_t>(value)];
}

} // namespace rdmalab::wire
