#include "wire/icrc.h"

#include "wire/roce.h"

#include <algorithm>
#include <array>

#include <zlib.h>

namespace rdmalab::wire {
namespace {

/// The longest headers that are masked: IPv4 with 40 bytes of options, UDP, BTH.
constexpr std::size_t largest_masked = 60 + udp_bytes + bth_bytes;

bool captured_whole(const Packet& packet)
{
  return packet.is_roce() && packet.whole() && packet.payload_length >= bth_bytes + icrc_bytes;
}

std::size_t icrc_offset(const Packet& packet)
{
  return packet.payload_offset + packet.payload_length - icrc_bytes;
}

/// Sets to ones what routers may change.
void mask(MutableBytes headers, const Packet& packet)
{
  constexpr std::byte ones{0xff};
  if (packet.network == Network::ipv4) {
    headers[1] = ones;                // TOS
    headers[8] = ones;                // TTL
    headers[10] = headers[11] = ones; // checksum
  } else {
    headers[0] |= std::byte{0x0f}; // traffic class and flow label
    headers[1] = headers[2] = headers[3] = ones;
    headers[7] = ones; // hop limit
  }
  const MutableBytes udp = headers.subspan(packet.network_header_length, udp_bytes);
  udp[6] = udp[7] = ones;                                       // checksum
  headers[packet.network_header_length + udp_bytes + 4] = ones; // FECN, BECN, reserved
}

} // namespace

std::optional<std::uint32_t> icrc_seed(Bytes frame, const Packet& packet)
{
  if (!packet.is_roce() || packet.payload_captured < bth_bytes) return {};
  const std::size_t length = packet.network_header_length + udp_bytes + bth_bytes;
  std::array<std::byte, largest_masked> copy{};
  std::ranges::copy(frame.subspan(packet.network_offset, length), copy.begin());
  const MutableBytes headers = std::span(copy).first(length);
  mask(headers, packet);

  constexpr std::array<std::byte, 8> link_header{std::byte{0xff}, std::byte{0xff}, std::byte{0xff},
                                                 std::byte{0xff}, std::byte{0xff}, std::byte{0xff},
                                                 std::byte{0xff}, std::byte{0xff}};
  return icrc_continue(icrc_continue(0, link_header), headers);
}

std::uint32_t icrc_continue(std::uint32_t crc, Bytes bytes)
{
  if (bytes.empty()) return crc; // zlib takes a null pointer as "give me the initial value"
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  return static_cast<std::uint32_t>(crc32_z(crc, data, bytes.size()));
}

std::optional<std::uint32_t> compute_icrc(Bytes frame, const Packet& packet)
{
  if (!captured_whole(packet)) return {};
  const auto seed = icrc_seed(frame, packet);
  if (!seed) return {};
  const std::size_t begin = packet.payload_offset + bth_bytes;
  return icrc_continue(*seed, frame.subspan(begin, icrc_offset(packet) - begin));
}

std::optional<std::uint32_t> stored_icrc(Bytes frame, const Packet& packet)
{
  if (!captured_whole(packet)) return {};
  std::uint32_t value = 0;
  for (std::size_t i = icrc_bytes; i-- > 0;)
    value = value << 8U | std::to_integer<std::uint32_t>(frame[icrc_offset(packet) + i]);
  return value;
}

std::optional<bool> icrc_holds(Bytes frame, const Packet& packet)
{
  const auto right = compute_icrc(frame, packet);
  if (!right) return {};
  return right == stored_icrc(frame, packet);
}

bool fix_icrc(MutableBytes frame, const Packet& packet)
{
  const auto right = compute_icrc(frame, packet);
  if (!right) return false;
  for (std::size_t i = 0; i < icrc_bytes; ++i)
    frame[icrc_offset(packet) + i] = static_cast<std::byte>(*right >> (8U * i) & 0xffU);
  return true;
}

std::uint32_t icrc_change(Bytes flipped, std::size_t bytes_behind)
{
  // crc(a) ^ crc(b) for equally long a and b is the register's pure image of a ^ b: the initial
  // value and the final inversion cancel out. Here b is all zeros.
  static constexpr std::array<std::byte, 64> zeros{};
  std::uint32_t none = 0;
  for (std::size_t left = flipped.size(); left > 0;) {
    const std::size_t step = std::min(left, zeros.size());
    none = icrc_continue(none, std::span(zeros).first(step));
    left -= step;
  }
  const std::uint32_t image = icrc_continue(0, flipped) ^ none;
  // Combining with the CRC 0 of something long moves an image on over that many zero bytes.
  return static_cast<std::uint32_t>(crc32_combine(image, 0, static_cast<z_off_t>(bytes_behind)));
}

} // namespace rdmalab::wire
