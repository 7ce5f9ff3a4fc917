#pragma once

#include <array>
#include <cstdint>

namespace rdmalab::fault {

/// CRC-32's byte table: what a register whose lowest byte is the index becomes over a zero byte.
std::array<std::uint32_t, 256> crc_table();
/// Matrix k, column i: what bit i of a CRC-32 register becomes over 2^k zero bytes (the method of
/// zlib's crc32_combine).
std::array<std::array<std::uint32_t, 32>, 14> crc_zeros();

/// By BTH's opcode: packet class in the lower four bits, position above.
std::array<std::uint8_t, 256> opcode_kinds();
/// By BTH's opcode: length of BTH and the headers behind it, bytes.
std::array<std::uint8_t, 256> opcode_headers();

} // namespace rdmalab::fault
