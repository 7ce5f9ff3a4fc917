#pragma once

#include "base/fd.h"
#include "base/result.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

/// Host and guest talk through a piece of memory that both have mapped (QEMU's ivshmem-plain, its
/// second BAR). Reading and writing it is a plain memory access: it costs the guest no exit and
/// never interrupts it, so nothing that is timed by the real world reaches a guest that runs on the
/// virtual clock.
namespace rdmalab::engine {

enum class GuestState : std::uint32_t {
  booting = 0,
  ready = 1,   ///< booted; waits for a request (and, to be snapshotted, has stopped itself)
  running = 2, ///< took the request
  traffic = 3, ///< the first message is about to be sent
  done = 4,    ///< the response is complete, but for parts that the host has taken
};

/// At offset 0 of the region; the payload area follows at `payload_offset`. Both sides are
/// little-endian.
struct ChannelHeader {
  std::atomic<std::uint32_t> magic;
  std::atomic<std::uint32_t> state;          ///< GuestState, written by the guest
  std::atomic<std::uint64_t> request_bytes;  ///< written by the host before the guest looks
  std::atomic<std::uint64_t> response_bytes; ///< of the part that is there, written by the guest
  std::atomic<std::uint32_t> parts_given;    ///< before the last one, written by the guest
  std::atomic<std::uint32_t> parts_taken;    ///< written by the host
};
static_assert(sizeof(ChannelHeader) == 32);

/// One mapping of the region. Move-only.
class Channel {
public:
  static constexpr std::uint32_t magic = 0x4c44524d; // "MRDL"
  static constexpr size_t payload_offset = 4096;
  static constexpr size_t region_bytes = size_t{64} << 20;

  /// Host side: makes the region as an anonymous file. QEMU opens it by its descriptor's name.
  static Result<Channel> create();
  /// Guest side: the first ivshmem device on the PCI bus.
  static Result<Channel> open_guest();

  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&& other) noexcept;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel();

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] GuestState state() const;
  void set_state(GuestState state);

  /// Puts the request there (host). An Error if it doesn't fit.
  Status write_request(std::string_view text);
  /// Puts the response there (guest): all texts, one behind the other. What does not fit goes in
  /// parts, for each of which the guest waits until the host has taken it: traffic is over by then.
  void write_response(std::initializer_list<std::string_view> texts);
  /// Takes the part that waits, if there is one (host). To be called again and again until `done`.
  Status take_part();
  [[nodiscard]] Result<std::string> request() const;
  /// All of the response, once the guest is done (host).
  [[nodiscard]] Result<std::string> response();

private:
  Channel(Fd fd, std::byte* memory) : fd_(std::move(fd)), memory_(memory) {}
  [[nodiscard]] ChannelHeader& header() const { return *reinterpret_cast<ChannelHeader*>(memory_); }
  [[nodiscard]] Result<std::string> payload(std::uint64_t bytes, const char* what) const;

  Fd fd_;
  std::byte* memory_ = nullptr;
  std::string taken_; ///< parts of the response
};

} // namespace rdmalab::engine
