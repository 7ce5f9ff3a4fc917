#include "engine/channel.h"

#include "base/clock.h"
#include "engine/pci.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

namespace rdmalab::engine {
namespace {

constexpr size_t capacity = Channel::region_bytes - Channel::payload_offset;

Result<std::byte*> map(int fd, const std::string& what)
{
  void* memory = ::mmap(nullptr, Channel::region_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return system_error("map " + what);
  return static_cast<std::byte*>(memory);
}

} // namespace

Result<Channel> Channel::create()
{
  Fd fd(::memfd_create("rdmalab-channel", 0));
  if (!fd.valid()) return system_error("create the guest's channel");
  if (::ftruncate(fd.get(), region_bytes) != 0) return system_error("size the guest's channel");
  TRY_ASSIGN(std::byte * memory, map(fd.get(), "the guest's channel"));
  Channel channel(std::move(fd), memory);
  channel.header().magic = magic;
  return channel;
}

Result<Channel> Channel::open_guest()
{
  // ivshmem; its shared memory is BAR 2 (QEMU, docs/specs/ivshmem-spec.rst).
  TRY_ASSIGN(Fd fd, open_pci_bar(0x1af4, 0x1110, 2));
  TRY_ASSIGN(std::byte * memory, map(fd.get(), "the host's channel"));
  return Channel(std::move(fd), memory);
}

Channel::Channel(Channel&& other) noexcept
    : fd_(std::move(other.fd_)), memory_(std::exchange(other.memory_, nullptr)),
      taken_(std::move(other.taken_))
{}

Channel& Channel::operator=(Channel&& other) noexcept
{
  std::swap(fd_, other.fd_);
  std::swap(memory_, other.memory_);
  std::swap(taken_, other.taken_);
  return *this;
}

Channel::~Channel()
{
  if (memory_ != nullptr) ::munmap(memory_, region_bytes);
}

GuestState Channel::state() const
{
  return static_cast<GuestState>(header().state.load());
}
void Channel::set_state(GuestState state)
{
  header().state = static_cast<std::uint32_t>(state);
}

Status Channel::write_request(std::string_view text)
{
  if (text.size() > capacity)
    return Error{Exit::setup, "hand the plan to the guest: it is too large", 0, {}, {}};
  std::memcpy(memory_ + payload_offset, text.data(), text.size());
  header().magic = magic;
  header().request_bytes = text.size();
  return {};
}

void Channel::write_response(std::initializer_list<std::string_view> texts)
{
  constexpr std::uint64_t look_every_ns = 1'000'000;
  std::size_t used = 0;
  for (std::string_view text : texts) {
    while (!text.empty()) {
      if (used == capacity) {
        header().response_bytes = used;
        const std::uint32_t part = ++header().parts_given;
        while (header().parts_taken != part) sleep_until_ns(monotonic_ns() + look_every_ns);
        used = 0;
      }
      const std::size_t length = std::min(text.size(), capacity - used);
      std::memcpy(memory_ + payload_offset + used, text.data(), length);
      text.remove_prefix(length);
      used += length;
    }
  }
  header().response_bytes = used;
}

Status Channel::take_part()
{
  const std::uint32_t given = header().parts_given;
  if (given == header().parts_taken) return {};
  TRY_ASSIGN(const std::string part, payload(header().response_bytes, "record"));
  taken_ += part;
  header().parts_taken = given;
  return {};
}

Result<std::string> Channel::request() const
{
  return payload(header().request_bytes, "plan");
}
Result<std::string> Channel::response()
{
  TRY_ASSIGN(const std::string last, payload(header().response_bytes, "record"));
  taken_ += last;
  return std::exchange(taken_, {});
}

Result<std::string> Channel::payload(std::uint64_t bytes, const char* what) const
{
  if (header().magic != magic || bytes == 0 || bytes > capacity)
    return Error{Exit::guest,
                 std::string("read the ") + what + " from the channel: it isn't there",
                 0,
                 {},
                 {}};
  return std::string(reinterpret_cast<const char*>(memory_) + payload_offset, bytes);
}

} // namespace rdmalab::engine
