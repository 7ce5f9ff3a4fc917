#include "wire/pcapng.h"
#include "wire/pcapng_format.h"

#include <concepts>
#include <optional>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::wire {
namespace {

/// Reads little-endian numbers; past the end it gives 0 and is no longer ok.
class Cursor {
public:
  explicit Cursor(std::string_view text) : text_(text) {}

  template <std::unsigned_integral T> T number()
  {
    const std::string_view bytes = take(sizeof(T));
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;)
      value = value << 8U | static_cast<unsigned char>(bytes[i]);
    return static_cast<T>(value);
  }
  std::uint32_t u32() { return number<std::uint32_t>(); }
  std::uint64_t time()
  {
    const std::uint64_t high = u32();
    return high << 32U | u32();
  }
  /// Data and the padding behind it, without the padding.
  std::string_view data(std::size_t length)
  {
    return take(pcapng::padded(length)).substr(0, ok_ ? length : 0);
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::size_t remaining() const { return text_.size(); }

private:
  std::string_view take(std::size_t length)
  {
    if (length > text_.size()) ok_ = false;
    if (!ok_) return {};
    const std::string_view taken = text_.substr(0, length);
    text_.remove_prefix(length);
    return taken;
  }
  std::string_view text_;
  bool ok_ = true;
};

/// Calls `visit(code, value)` for each option; false if the list is broken.
template <typename Visit> bool for_each_option(Cursor& cursor, Visit visit)
{
  while (cursor.remaining() > 0) {
    const auto code = cursor.number<std::uint16_t>();
    const auto length = cursor.number<std::uint16_t>();
    if (code == pcapng::opt_end) return cursor.ok();
    const std::string_view value = cursor.data(length);
    if (!cursor.ok()) return false;
    visit(code, value);
  }
  return cursor.ok();
}

bool read_section(Cursor& cursor, Pcapng& into)
{
  cursor.data(16); // magic, version, section length
  return for_each_option(cursor, [&](std::uint16_t code, std::string_view value) {
    if (code == pcapng::opt_comment) into.comment = value;
    if (code == pcapng::shb_application) into.application = value;
  });
}

bool read_interface(Cursor& cursor, Pcapng& into)
{
  CaptureInterface interface;
  const auto link_type = cursor.number<std::uint16_t>();
  cursor.number<std::uint16_t>();
  interface.snap_length = cursor.u32();
  bool in_ns = false;
  const bool read = for_each_option(cursor, [&](std::uint16_t code, std::string_view value) {
    if (code == pcapng::if_name) interface.name = value;
    if (code == pcapng::if_description) interface.description = value;
    if (code == pcapng::if_tsresol)
      in_ns = value.size() == 1 && static_cast<std::uint8_t>(value[0]) == pcapng::nanoseconds;
  });
  into.interfaces.push_back(std::move(interface));
  return read && in_ns && link_type == pcapng::link_type_ethernet;
}

bool read_packet(Cursor& cursor, Pcapng& into)
{
  CapturedPacket packet;
  packet.interface = cursor.u32();
  packet.time_ns = cursor.time();
  const std::uint32_t captured = cursor.u32();
  packet.wire_length = cursor.u32();
  packet.bytes = bytes_of(cursor.data(captured));
  const bool read = for_each_option(cursor, [&](std::uint16_t code, std::string_view value) {
    if (code == pcapng::opt_comment) packet.comment = value;
    if (code == pcapng::epb_flags)
      packet.direction = static_cast<CaptureDirection>(Cursor(value).u32() & 3U);
  });
  into.packets.push_back(packet);
  return read && packet.interface < into.interfaces.size();
}

bool read_statistics(Cursor& cursor, Pcapng& into)
{
  Pcapng::Statistics statistics;
  statistics.interface = cursor.u32();
  cursor.time();
  const bool read = for_each_option(cursor, [&](std::uint16_t code, std::string_view value) {
    if (code == pcapng::isb_received) statistics.received = Cursor(value).number<std::uint64_t>();
    if (code == pcapng::isb_dropped) statistics.dropped = Cursor(value).number<std::uint64_t>();
  });
  into.statistics.push_back(statistics);
  return read && statistics.interface < into.interfaces.size();
}

bool read_block(std::uint32_t type, std::string_view body, Pcapng& into)
{
  Cursor cursor(body);
  switch (type) {
  case pcapng::section_block:
    return read_section(cursor, into);
  case pcapng::interface_block:
    return read_interface(cursor, into);
  case pcapng::packet_block:
    return read_packet(cursor, into);
  case pcapng::statistics_block:
    return read_statistics(cursor, into);
  default:
    return true;
  }
}

/// The body of the block that starts at `text`'s beginning; empty if its length is impossible.
std::optional<std::string_view> block_body(std::string_view text, std::size_t& length)
{
  constexpr std::size_t around = 12; // type and the two lengths
  Cursor head(text);
  head.u32();
  length = head.u32();
  if (!head.ok() || length < around || length % 4 != 0 || length > text.size()) return {};
  if (Cursor(text.substr(length - 4)).u32() != length) return {};
  return text.substr(8, length - around);
}

} // namespace

Result<Pcapng> read_pcapng(std::string_view text, const std::string& what)
{
  const auto error = [&](std::size_t at, const char* why) {
    return usage_error(fmt::format("read {}: {} at byte {}", what, why, at));
  };
  Cursor start(text);
  const std::uint32_t type = start.u32();
  start.u32();
  if (type != pcapng::section_block || start.u32() != pcapng::byte_order_magic)
    return error(0, "no little-endian pcapng section");

  Pcapng result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = 0;
    const auto body = block_body(text.substr(at), length);
    if (!body) return error(at, "a block of impossible length");
    if (!read_block(Cursor(text.substr(at)).u32(), *body, result))
      return error(at, "a block that can't be read");
    at += length;
  }
  return result;
}

} // namespace rdmalab::wire
