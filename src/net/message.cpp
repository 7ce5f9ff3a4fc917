#include "net/message.h"

#include <cstdlib>

#include <spdlog/spdlog.h>

namespace rdmalab::net {

namespace {

constexpr std::size_t attribute_header = 4;

/// More than a page of attributes, or no memory for it. No exception: destructors send messages,
/// too.
[[noreturn]] void overflow()
{
  spdlog::critical("a netlink message does not fit into its buffer");
  std::abort();
}

std::size_t aligned(std::size_t size)
{
  return (size + 3) & ~std::size_t{3};
}

std::size_t length_of(nl_msg* message)
{
  return nlmsg_hdr(message)->nlmsg_len;
}

} // namespace

Message::Message(int type, int flags) : message_(nlmsg_alloc())
{
  const bool dump = (flags & NLM_F_DUMP) == NLM_F_DUMP;
  const int all = NLM_F_REQUEST | (dump ? 0 : NLM_F_ACK) | flags;
  if (!message_ || nlmsg_put(message_.get(), 0, 0, type, 0, all) == nullptr) overflow();
}

Message& Message::append(Bytes bytes)
{
  if (nlmsg_append(message_.get(), const_cast<std::byte*>(bytes.data()), bytes.size(),
                   NLMSG_ALIGNTO) < 0)
    overflow();
  return *this;
}

Message& Message::put_bytes(int type, Bytes value)
{
  if (nla_put(message_.get(), type, static_cast<int>(value.size()), value.data()) < 0) overflow();
  return *this;
}

Message& Message::put_string(int type, const std::string& value)
{
  return put_bytes(type, std::as_bytes(std::span(value.c_str(), value.size() + 1)));
}

std::size_t Message::begin_nest(int type)
{
  const std::size_t start = length_of(message_.get());
  put_bytes(type, {});
  return start;
}

void Message::end_nest(std::size_t start)
{
  nlmsghdr* header = nlmsg_hdr(message_.get());
  const auto length = static_cast<std::uint16_t>(header->nlmsg_len - start);
  std::memcpy(reinterpret_cast<std::byte*>(header) + start, &length, sizeof(length));
}

Bytes Message::bytes() const
{
  const nlmsghdr* header = nlmsg_hdr(message_.get());
  return {reinterpret_cast<const std::byte*>(header), header->nlmsg_len};
}

Attributes::Attributes(Bytes bytes, std::size_t skip)
    : bytes_(bytes.size() > aligned(skip) ? bytes.subspan(aligned(skip)) : Bytes{})
{}

Attributes::Iterator::Iterator(Bytes rest) : rest_(rest)
{
  parse();
}

void Attributes::Iterator::parse()
{
  const auto header = value_of<nlattr>(rest_);
  if (!header || header->nla_len < attribute_header || header->nla_len > rest_.size()) {
    rest_ = {};
    return;
  }
  current_.type = static_cast<std::uint16_t>(header->nla_type & NLA_TYPE_MASK);
  current_.payload = rest_.subspan(attribute_header, header->nla_len - attribute_header);
}

Attributes::Iterator& Attributes::Iterator::operator++()
{
  const std::size_t size = aligned(current_.payload.size() + attribute_header);
  rest_ = size < rest_.size() ? rest_.subspan(size) : Bytes{};
  parse();
  return *this;
}

std::optional<Bytes> Attributes::find(int type) const
{
  for (const Attribute& attribute : *this)
    if (attribute.type == type) return attribute.payload;
  return std::nullopt;
}

std::string Attributes::text(int type) const
{
  const auto bytes = find(type);
  return bytes ? text_of(*bytes) : std::string{};
}

std::string text_of(Bytes bytes)
{
  const auto* start = reinterpret_cast<const char*>(bytes.data());
  return bytes.empty() ? std::string{} : std::string(start, strnlen(start, bytes.size()));
}

} // namespace rdmalab::net
