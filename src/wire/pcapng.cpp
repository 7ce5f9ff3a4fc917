#include "wire/pcapng.h"

#include "base/file.h"
#include "wire/pcapng_format.h"

#include <algorithm>
#include <concepts>
#include <limits>

namespace rdmalab::wire {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 20U;
/// An option's length has 16 bits.
constexpr std::size_t longest_option = std::numeric_limits<std::uint16_t>::max();

/// Appends one block, little-endian; its length stands at both ends.
class Block {
public:
  Block(std::string& buffer, std::uint32_t type) : buffer_(buffer), begin_(buffer.size())
  {
    number(type);
    number(std::uint32_t{0}); // the length: end() fills it in
  }

  template <std::unsigned_integral T> void number(T value)
  {
    char bytes[sizeof(T)];
    for (char& byte : bytes) {
      byte = static_cast<char>(value & 0xffU);
      value = static_cast<T>(static_cast<std::uint64_t>(value) >> 8U);
    }
    buffer_.append(bytes, sizeof bytes);
  }
  /// pcapng's own order: the upper half first.
  void time(std::uint64_t ns)
  {
    number(static_cast<std::uint32_t>(ns >> 32U));
    number(static_cast<std::uint32_t>(ns & 0xffffffffU));
  }
  void data(std::string_view bytes)
  {
    buffer_.append(bytes);
    buffer_.append(pcapng::padded(bytes.size()) - bytes.size(), '\0');
  }

  template <std::unsigned_integral T> void number_option(std::uint16_t code, T value)
  {
    option_head(code, sizeof(T));
    number(value);
    buffer_.append(pcapng::padded(sizeof(T)) - sizeof(T), '\0');
  }
  /// Text of any length; what an option can't hold is cut off. None if it is empty.
  void text_option(std::uint16_t code, std::string_view text)
  {
    if (text.empty()) return;
    text = text.substr(0, longest_option);
    option_head(code, text.size());
    data(text);
  }

  void end()
  {
    if (options_) {
      number(pcapng::opt_end);
      number(std::uint16_t{0});
    }
    const std::size_t length = buffer_.size() - begin_ + sizeof(std::uint32_t);
    number(static_cast<std::uint32_t>(length));
    buffer_.replace(begin_ + sizeof(std::uint32_t), sizeof(std::uint32_t), buffer_,
                    buffer_.size() - sizeof(std::uint32_t), sizeof(std::uint32_t));
  }

private:
  void option_head(std::uint16_t code, std::size_t length)
  {
    options_ = true;
    number(code);
    number(static_cast<std::uint16_t>(length));
  }

  std::string& buffer_;
  std::size_t begin_;
  bool options_ = false;
};

void write_section(std::string& buffer, std::string_view application, std::string_view comment)
{
  Block block(buffer, pcapng::section_block);
  block.number(pcapng::byte_order_magic);
  block.number(std::uint16_t{1}); // version 1.0
  block.number(std::uint16_t{0});
  block.number(std::numeric_limits<std::uint64_t>::max()); // the section's length isn't said
  block.text_option(pcapng::opt_comment, comment);
  block.text_option(pcapng::shb_application, application);
  block.end();
}

void write_interface(std::string& buffer, const CaptureInterface& interface)
{
  Block block(buffer, pcapng::interface_block);
  block.number(pcapng::link_type_ethernet);
  block.number(std::uint16_t{0});
  block.number(interface.snap_length);
  block.text_option(pcapng::if_name, interface.name);
  block.text_option(pcapng::if_description, interface.description);
  block.number_option(pcapng::if_tsresol, pcapng::nanoseconds);
  block.end();
}

} // namespace

PcapngWriter PcapngWriter::create(Fd fd, std::string what,
                                  std::span<const CaptureInterface> interfaces,
                                  std::string_view application, std::string_view comment)
{
  PcapngWriter writer(std::move(fd), std::move(what));
  writer.buffer_.reserve(chunk_bytes + chunk_bytes / 8);
  write_section(writer.buffer_, application, comment);
  for (const CaptureInterface& interface : interfaces) write_interface(writer.buffer_, interface);
  return writer;
}

Status PcapngWriter::write(const CapturedPacket& packet)
{
  Block block(buffer_, pcapng::packet_block);
  block.number(packet.interface);
  block.time(packet.time_ns);
  block.number(static_cast<std::uint32_t>(packet.bytes.size()));
  block.number(std::max(packet.wire_length, static_cast<std::uint32_t>(packet.bytes.size())));
  block.data(text_of(packet.bytes));
  block.text_option(pcapng::opt_comment, packet.comment);
  if (packet.direction != CaptureDirection::unknown)
    block.number_option(pcapng::epb_flags, static_cast<std::uint32_t>(packet.direction));
  block.end();
  return flush_if_full();
}

Status PcapngWriter::write_statistics(std::uint32_t interface, std::uint64_t time_ns,
                                      std::uint64_t received, std::uint64_t dropped)
{
  Block block(buffer_, pcapng::statistics_block);
  block.number(interface);
  block.time(time_ns);
  block.number_option(pcapng::isb_received, received);
  block.number_option(pcapng::isb_dropped, dropped);
  block.end();
  return flush_if_full();
}

Status PcapngWriter::flush_if_full()
{
  return buffer_.size() < chunk_bytes ? Status{} : finish();
}

Status PcapngWriter::finish()
{
  TRY(write_all(fd_.get(), buffer_, what_));
  buffer_.clear();
  return {};
}

} // namespace rdmalab::wire
