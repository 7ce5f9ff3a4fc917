#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rdmalab::traffic {

/// Which message buffers of a stream the kernel still reads from: book-keeping of MSG_ZEROCOPY
/// (Linux, Documentation/networking/msg_zerocopy.rst). Each successful send has a number, counted
/// from 0; completions name ranges of numbers, mostly in order, on the socket's error queue.
class ZeroCopy {
public:
  /// `slots`: message buffers of the stream.
  explicit ZeroCopy(std::size_t slots);

  /// Whether one more send can be kept in the books.
  [[nodiscard]] bool room() const { return slot_of_[sends_ % slot_of_.size()] == nobody; }
  /// A part of the message in `slot` was sent.
  void sent(std::size_t slot);
  /// Sends that the kernel is not through with.
  [[nodiscard]] std::uint64_t pending() const { return pending_; }
  /// Whether the kernel is through with a slot.
  [[nodiscard]] bool free(std::size_t slot) const { return pending_of_[slot] == 0; }

  /// Takes completions from the error queue until it is empty. 0, or the errno of reading it.
  int collect(int fd);
  /// Sends `first` to `last` are completed.
  void complete(std::uint32_t first, std::uint32_t last, bool copied);

  [[nodiscard]] std::uint64_t sends() const { return sends_; }
  /// Completed sends of which the kernel says that it copied after all.
  [[nodiscard]] std::uint64_t copied() const { return copied_; }

private:
  static constexpr std::uint32_t nobody = UINT32_MAX;

  std::vector<std::uint32_t> slot_of_; ///< by a send's number; a power of two of them
  std::vector<std::uint32_t> pending_of_;
  std::uint64_t sends_ = 0;
  std::uint64_t pending_ = 0;
  std::uint64_t copied_ = 0;
};

} // namespace rdmalab::traffic
