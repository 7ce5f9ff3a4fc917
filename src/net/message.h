#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <netlink/msg.h>

/// Netlink messages as bytes: built and read without a kernel, so that golden tests can pin them.
/// Layout: RFC 3549, linux/netlink.h.
namespace rdmalab::net {

using Bytes = std::span<const std::byte>;

/// A netlink request under construction. Running out of room is a bug and aborts.
class Message {
public:
  /// NLM_F_REQUEST and NLM_F_ACK are always set, NLM_F_ACK not on a dump (its end is NLMSG_DONE).
  Message(int type, int flags = 0);

  /// Appends a family header (ifinfomsg, tcmsg …); first of all, and only once.
  template <typename T> Message& header(const T& value)
  {
    static_assert(std::is_trivially_copyable_v<T>);
    append(std::as_bytes(std::span(&value, 1)));
    return *this;
  }

  /// Appends an attribute with a plain value.
  template <typename T> Message& put(int type, const T& value)
  {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
    return put_bytes(type, std::as_bytes(std::span(&value, 1)));
  }
  Message& put_bytes(int type, Bytes value);
  /// A string attribute with its terminating zero.
  Message& put_string(int type, const std::string& value);

  /// An attribute whose payload is whatever `fill()` appends meanwhile. No NLA_F_NESTED: these
  /// families predate it, and kernels of every age accept its absence.
  template <typename Fill> Message& nest(int type, Fill&& fill)
  {
    const std::size_t start = begin_nest(type);
    fill();
    end_nest(start);
    return *this;
  }

  /// Appends raw bytes, padded to 4: a struct inside an attribute, or an encoded attribute's
  /// payload.
  Message& append(Bytes bytes);

  [[nodiscard]] nl_msg* get() { return message_.get(); }
  /// The whole message with its header; sequence number and port are 0 until it is sent.
  [[nodiscard]] Bytes bytes() const;

private:
  std::size_t begin_nest(int type);
  void end_nest(std::size_t start);

  struct Free {
    void operator()(nl_msg* message) const { nlmsg_free(message); }
  };
  std::unique_ptr<nl_msg, Free> message_;
};

/// One attribute of a reply.
struct Attribute {
  std::uint16_t type = 0; ///< without NLA_F_NESTED and NLA_F_NET_BYTEORDER
  Bytes payload;
};

/// Walks the attributes of a payload; stops at the first malformed one.
class Attributes {
public:
  /// `skip`: length of the family header before the first attribute.
  explicit Attributes(Bytes bytes, std::size_t skip = 0);

  class Iterator {
  public:
    explicit Iterator(Bytes rest);
    const Attribute& operator*() const { return current_; }
    Iterator& operator++();
    bool operator==(const Iterator& other) const { return rest_.size() == other.rest_.size(); }

  private:
    void parse();
    Bytes rest_;
    Attribute current_;
  };
  [[nodiscard]] Iterator begin() const { return Iterator(bytes_); }
  [[nodiscard]] Iterator end() const { return Iterator({}); }

  /// The first attribute of that type.
  [[nodiscard]] std::optional<Bytes> find(int type) const;
  /// The value of an attribute that is at least as long as T.
  template <typename T> [[nodiscard]] std::optional<T> get(int type) const;
  /// The text of an attribute up to its first zero, or "".
  [[nodiscard]] std::string text(int type) const;

private:
  Bytes bytes_;
};

/// A plain value from the start of a payload; nothing if the payload is shorter.
template <typename T> std::optional<T> value_of(Bytes bytes)
{
  static_assert(std::is_trivially_copyable_v<T>);
  if (bytes.size() < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

template <typename T> std::optional<T> Attributes::get(int type) const
{
  const auto bytes = find(type);
  return bytes ? value_of<T>(*bytes) : std::nullopt;
}

/// The text of a payload up to its first zero.
std::string text_of(Bytes bytes);

} // namespace rdmalab::net
