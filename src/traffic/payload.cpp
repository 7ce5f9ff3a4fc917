#include "traffic/payload.h"

#include "base/random.h"

#include <cassert>
#include <cstring>

namespace rdmalab::traffic {

namespace {

constexpr std::size_t word_bytes = 8;
constexpr std::size_t block_words = 32; // 256 bytes: the smallest IB path MTU
constexpr std::size_t header_words = 4;

std::uint64_t load(const std::byte* at)
{
  std::uint64_t word = 0;
  std::memcpy(&word, at, word_bytes);
  return word;
}

void store(std::byte* at, std::uint64_t word)
{
  std::memcpy(at, &word, word_bytes);
}

/// Four words, and the same read at any alignment.
// NOLINTBEGIN(modernize-use-using): what clang-tidy 14 would write instead loses the attributes
typedef std::uint64_t Quad __attribute__((vector_size(32)));
typedef Quad UnalignedQuad __attribute__((aligned(1), may_alias));
// NOLINTEND(modernize-use-using)

/// The bits in which whole blocks differ from the pattern, or-ed together; word 0 of each carries
/// `key`.
[[gnu::always_inline]] inline std::uint64_t differing_bits(const std::byte* data,
                                                           const std::uint64_t* pattern,
                                                           std::size_t blocks, std::uint64_t key)
{
  const UnalignedQuad* got = reinterpret_cast<const UnalignedQuad*>(data);
  const UnalignedQuad* want = reinterpret_cast<const UnalignedQuad*>(pattern);
  const Quad stamp{key, 0, 0, 0};
  Quad a{};
  Quad b{};
  for (std::size_t block = 0; block < blocks; ++block, got += 8, want += 8) {
    a |= (got[0] ^ want[0]) ^ stamp;
    b |= got[1] ^ want[1];
    a |= got[2] ^ want[2];
    b |= got[3] ^ want[3];
    a |= got[4] ^ want[4];
    b |= got[5] ^ want[5];
    a |= got[6] ^ want[6];
    b |= got[7] ^ want[7];
  }
  a |= b;
  return a[0] | a[1] | a[2] | a[3];
}

std::uint64_t differing_bits_plain(const std::byte* data, const std::uint64_t* pattern,
                                   std::size_t blocks, std::uint64_t key)
{
  return differing_bits(data, pattern, blocks, key);
}

// Under an instruction-counting clock the width of a compare is its price: AVX2 halves it.
#if defined(__x86_64__)
[[gnu::target("avx2")]] std::uint64_t differing_bits_wide(const std::byte* data,
                                                          const std::uint64_t* pattern,
                                                          std::size_t blocks, std::uint64_t key)
{
  return differing_bits(data, pattern, blocks, key);
}
bool cpu_is_wide()
{
  return __builtin_cpu_supports("avx2") != 0;
}
#else
std::uint64_t differing_bits_wide(const std::byte* data, const std::uint64_t* pattern,
                                  std::size_t blocks, std::uint64_t key)
{
  return differing_bits(data, pattern, blocks, key);
}
bool cpu_is_wide()
{
  return false;
}
#endif

std::uint64_t header_check(std::uint64_t key, std::uint64_t sent_ns, std::uint64_t bytes)
{
  return mix64(mix64(key, bytes), sent_ns);
}

} // namespace

Payload::Payload(std::uint64_t seed, std::uint64_t bytes)
    : seed_(seed), bytes_(bytes), pattern_((bytes + word_bytes - 1) / word_bytes),
      wide_(cpu_is_wide())
{
  assert(bytes >= min_bytes);
  for (std::size_t i = 0; i < pattern_.size(); ++i)
    pattern_[i] = i % block_words == 0 ? 0 : mix64(seed, i); // the stamp's place
}

std::uint64_t Payload::key(std::uint64_t stream, std::uint64_t number) const
{
  return mix64(mix64(seed_, ~stream), number);
}

void Payload::fill(std::byte* message) const
{
  std::memcpy(message, pattern_.data(), bytes_);
}

void Payload::stamp(std::byte* message, std::uint64_t stream, std::uint64_t number,
                    std::uint64_t sent_ns) const
{
  const std::uint64_t k = key(stream, number);
  store(message, number);
  store(message + word_bytes, sent_ns);
  store(message + 2 * word_bytes, bytes_);
  store(message + 3 * word_bytes, header_check(k, sent_ns, bytes_));
  const std::size_t whole = bytes_ / word_bytes;
  std::size_t word = block_words;
#pragma GCC unroll 8
  for (; word < whole; word += block_words) store(message + word * word_bytes, k);
  if (word * word_bytes < bytes_) // the last block has less than a word
    std::memcpy(message + word * word_bytes, &k, bytes_ - word * word_bytes);
}

bool Payload::check(const std::byte* message, std::uint64_t stream, std::uint64_t number) const
{
  const std::uint64_t k = key(stream, number);
  std::uint64_t bits = load(message) ^ number;
  bits |= load(message + 2 * word_bytes) ^ bytes_;
  bits |= load(message + 3 * word_bytes) ^ header_check(k, load(message + word_bytes), bytes_);

  const std::size_t whole = bytes_ / word_bytes;
  const std::size_t blocks = whole / block_words; // block 0 with the header is compared by words
  const auto compare_words = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      const std::uint64_t stamp = i % block_words == 0 ? k : 0;
      bits |= load(message + i * word_bytes) ^ pattern_[i] ^ stamp;
    }
  };
  if (blocks == 0) {
    compare_words(header_words, whole);
  } else {
    compare_words(header_words, block_words);
    if (blocks > 1) {
      const auto* data = message + block_words * word_bytes;
      const auto* pattern = pattern_.data() + block_words;
      bits |= wide_ ? differing_bits_wide(data, pattern, blocks - 1, k)
                    : differing_bits_plain(data, pattern, blocks - 1, k);
    }
    compare_words(blocks * block_words, whole);
  }
  if (const std::size_t rest = bytes_ % word_bytes; rest != 0) {
    const std::uint64_t want = pattern_[whole] ^ (whole % block_words == 0 ? k : 0);
    if (std::memcmp(message + whole * word_bytes, &want, rest) != 0) return false;
  }
  return bits == 0;
}

std::uint64_t Payload::number(const std::byte* message)
{
  return load(message);
}

std::uint64_t Payload::sent_ns(const std::byte* message)
{
  return load(message + word_bytes);
}

} // namespace rdmalab::traffic
