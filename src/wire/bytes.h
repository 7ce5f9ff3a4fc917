#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace rdmalab::wire {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

/// Text seen as bytes.
inline Bytes bytes_of(std::string_view text)
{
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// Bytes seen as text.
inline std::string_view text_of(Bytes bytes)
{
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Reads big-endian integers one after the other. A read past the end gives 0 and makes ok() false
/// from then on, so a header is read first and checked once.
class Reader {
public:
  explicit Reader(Bytes bytes, std::size_t offset = 0)
      : bytes_(bytes), offset_(offset), ok_(offset <= bytes.size())
  {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::size_t offset() const { return offset_; }
  [[nodiscard]] std::size_t remaining() const { return ok_ ? bytes_.size() - offset_ : 0; }

  std::uint8_t u8() { return static_cast<std::uint8_t>(integer(1)); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(integer(2)); }
  std::uint32_t u24() { return static_cast<std::uint32_t>(integer(3)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(integer(4)); }
  std::uint64_t u64() { return integer(8); }

  /// The next `count` bytes; empty if there are fewer.
  Bytes bytes(std::size_t count)
  {
    if (!take(count)) return {};
    return bytes_.subspan(offset_ - count, count);
  }
  void skip(std::size_t count) { take(count); }

  /// The next `count` bytes into `to`, which stays as it is if there are fewer.
  void copy_to(std::uint8_t* to, std::size_t count)
  {
    for (const std::byte byte : bytes(count)) *to++ = std::to_integer<std::uint8_t>(byte);
  }

private:
  bool take(std::size_t count)
  {
    if (remaining() < count) return ok_ = false;
    offset_ += count;
    return ok_;
  }
  std::uint64_t integer(std::size_t width)
  {
    std::uint64_t value = 0;
    for (const std::byte byte : bytes(width))
      value = value << 8U | std::to_integer<std::uint64_t>(byte);
    return value;
  }

  Bytes bytes_;
  std::size_t offset_;
  bool ok_;
};

/// Writes big-endian integers one after the other. A write past the end changes nothing and makes
/// ok() false from then on. Bits of a value above its width are dropped.
class Writer {
public:
  explicit Writer(MutableBytes bytes, std::size_t offset = 0)
      : bytes_(bytes), offset_(offset), ok_(offset <= bytes.size())
  {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::size_t offset() const { return offset_; }
  [[nodiscard]] std::size_t remaining() const { return ok_ ? bytes_.size() - offset_ : 0; }

  void u8(std::uint8_t value) { integer(value, 1); }
  void u16(std::uint16_t value) { integer(value, 2); }
  void u24(std::uint32_t value) { integer(value, 3); }
  void u32(std::uint32_t value) { integer(value, 4); }
  void u64(std::uint64_t value) { integer(value, 8); }
  void bytes(Bytes bytes)
  {
    if (take(bytes.size())) std::ranges::copy(bytes, place(bytes.size()));
  }
  void fill(std::size_t count, std::uint8_t value)
  {
    if (take(count)) std::fill_n(place(count), count, std::byte{value});
  }

private:
  bool take(std::size_t count)
  {
    if (remaining() < count) return ok_ = false;
    offset_ += count;
    return ok_;
  }
  /// Where the `count` bytes that were taken last begin.
  [[nodiscard]] std::byte* place(std::size_t count) { return bytes_.data() + (offset_ - count); }
  void integer(std::uint64_t value, std::size_t width)
  {
    if (!take(width)) return;
    std::byte* at = place(width);
    for (std::size_t i = width; i-- > 0;) *at++ = static_cast<std::byte>(value >> (8U * i) & 0xffU);
  }

  MutableBytes bytes_;
  std::size_t offset_;
  bool ok_;
};

} // namespace rdmalab::wire
