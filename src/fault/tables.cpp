#include "fault/tables.h"

#include "fault.h"
#include "wire/opcode.h"
#include "wire/roce.h"

namespace rdmalab::fault {

namespace {

/// CRC-32's polynomial, lowest power first, as in IEEE 802.3 and the IB specification.
constexpr std::uint32_t polynomial = 0xedb88320;

std::uint32_t advance_register(const std::array<std::uint32_t, 32>& matrix, std::uint32_t crc)
{
  std::uint32_t moved = 0;
  for (std::size_t bit = 0; bit < matrix.size(); ++bit)
    if ((crc >> bit & 1U) != 0) moved ^= matrix[bit];
  return moved;
}

} // namespace

std::array<std::uint32_t, 256> crc_table()
{
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1U ^ ((crc & 1U) != 0 ? polynomial : 0);
    table[i] = crc;
  }
  return table;
}

std::array<std::array<std::uint32_t, 32>, 14> crc_zeros()
{
  static_assert(FAULT_ZERO_POWERS == 14);
  const auto table = crc_table();
  std::array<std::array<std::uint32_t, 32>, 14> matrices{};
  for (std::size_t bit = 0; bit < 32; ++bit) {
    const std::uint32_t one = 1U << bit;
    matrices[0][bit] = table[one & 0xffU] ^ one >> 8U;
  }
  for (std::size_t power = 1; power < matrices.size(); ++power)
    for (std::size_t bit = 0; bit < 32; ++bit)
      matrices[power][bit] = advance_register(matrices[power - 1], matrices[power - 1][bit]);
  return matrices;
}

std::array<std::uint8_t, 256> opcode_kinds()
{
  std::array<std::uint8_t, 256> kinds{};
  kinds.fill(FAULT_ROCE_OTHER);
  for (const wire::Opcode& opcode : wire::opcodes()) {
    const auto kind = opcode.role == wire::Role::acknowledge
                          ? unsigned{FAULT_ACK}
                          : static_cast<unsigned>(wire::classify(&opcode, {}));
    kinds[opcode.code] =
        static_cast<std::uint8_t>(kind | static_cast<unsigned>(opcode.position) << 4U);
  }
  return kinds;
}

std::array<std::uint8_t, 256> opcode_headers()
{
  std::array<std::uint8_t, 256> bytes{};
  bytes.fill(wire::bth_bytes);
  for (const wire::Opcode& opcode : wire::opcodes())
    bytes[opcode.code] =
        static_cast<std::uint8_t>(wire::bth_bytes + wire::extension_bytes(opcode.extensions));
  return bytes;
}

} // namespace rdmalab::fault
