#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rdmalab::traffic {

/// What the messages of one traffic contain, so that every byte of every message can be checked.
///
///   words 0 … 3   header: message number, send time (CLOCK_MONOTONIC ns), length, check word over
///   the three other words   a fixed pattern, a function of the seed and the word's position word 0
///   of each following 256-byte block: pattern XOR a key made from seed, stream and message number
///
/// An IB packet carries at least 256 bytes (but for the last of a message), so a packet that is
/// corrupted, from an earlier message, or from another place differs in at least one word. A last
/// block of n < 8 bytes shows a stale packet only with probability 1 - 2^(-8n); a changed byte is
/// always seen.
///
/// Stamping writes one word a block and checking is two loads a word: the check must not cost what
/// it measures.
class Payload {
public:
  static constexpr std::uint64_t min_bytes = 64;

  /// `bytes`: length of every message, at least min_bytes. Both ends use the same seed.
  Payload(std::uint64_t seed, std::uint64_t bytes);

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  /// Writes the fixed pattern to a message buffer of bytes(), once.
  void fill(std::byte* message) const;

  /// Turns a filled buffer into message `number` of `stream`, sent at `sent_ns`.
  void stamp(std::byte* message, std::uint64_t stream, std::uint64_t number,
             std::uint64_t sent_ns) const;

  /// True if each byte is that of message `number` of `stream`.
  [[nodiscard]] bool check(const std::byte* message, std::uint64_t stream,
                           std::uint64_t number) const;

  /// The number and the send time that a checked message carries.
  [[nodiscard]] static std::uint64_t number(const std::byte* message);
  [[nodiscard]] static std::uint64_t sent_ns(const std::byte* message);

private:
  [[nodiscard]] std::uint64_t key(std::uint64_t stream, std::uint64_t number) const;

  std::uint64_t seed_;
  std::uint64_t bytes_;
  std::vector<std::uint64_t> pattern_; ///< bytes_ rounded up to words
  bool wide_;                          ///< the CPU compares 32 bytes at once
};

} // namespace rdmalab::traffic
