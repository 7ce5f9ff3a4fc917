#pragma once

#include <cstddef>
#include <cstdint>

/// The numbers of pcapng (draft-ietf-opsawg-pcapng, sections 3 and 4) that its writer and reader
/// share.
namespace rdmalab::wire::pcapng {

inline constexpr std::uint32_t section_block = 0x0a0d0d0a;
inline constexpr std::uint32_t interface_block = 1;
inline constexpr std::uint32_t statistics_block = 5;
inline constexpr std::uint32_t packet_block = 6;

inline constexpr std::uint32_t byte_order_magic = 0x1a2b3c4d;
inline constexpr std::uint16_t link_type_ethernet = 1;
inline constexpr std::uint8_t nanoseconds = 9; ///< if_tsresol: 10^-9 s

inline constexpr std::uint16_t opt_end = 0;
inline constexpr std::uint16_t opt_comment = 1;
inline constexpr std::uint16_t shb_application = 4;
inline constexpr std::uint16_t if_name = 2;
inline constexpr std::uint16_t if_description = 3;
inline constexpr std::uint16_t if_tsresol = 9;
inline constexpr std::uint16_t epb_flags = 2;
inline constexpr std::uint16_t isb_received = 4;
inline constexpr std::uint16_t isb_dropped = 5;

/// Blocks, options and packet data are padded to 32 bits.
constexpr std::size_t padded(std::size_t length)
{
  return (length + 3) & ~std::size_t{3};
}

} // namespace rdmalab::wire::pcapng
