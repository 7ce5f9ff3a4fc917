#include "traffic/payload.h"

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace rdmalab::traffic {
namespace {

constexpr std::uint64_t seed = 7;

std::vector<std::byte> message(const Payload& payload, std::uint64_t stream, std::uint64_t number)
{
  std::vector<std::byte> bytes(payload.bytes());
  payload.fill(bytes.data());
  payload.stamp(bytes.data(), stream, number, 123'456);
  return bytes;
}

class Sizes : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Sizes, EveryChangedByteIsSeen)
{
  const Payload payload(seed, GetParam());
  auto bytes = message(payload, 1, 5);
  ASSERT_TRUE(payload.check(bytes.data(), 1, 5));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const unsigned bit : {0U, 3U, 7U}) {
      bytes[at] ^= std::byte(1U << bit);
      EXPECT_FALSE(payload.check(bytes.data(), 1, 5)) << "byte " << at << " bit " << bit;
      bytes[at] ^= std::byte(1U << bit);
    }
  }
  EXPECT_TRUE(payload.check(bytes.data(), 1, 5));
}

TEST_P(Sizes, AnotherMessageOrStreamOrSeedIsSeen)
{
  const Payload payload(seed, GetParam());
  const auto bytes = message(payload, 1, 5);
  EXPECT_FALSE(payload.check(bytes.data(), 1, 4));
  EXPECT_FALSE(payload.check(bytes.data(), 1, 6));
  EXPECT_FALSE(payload.check(bytes.data(), 0, 5));
  EXPECT_FALSE(Payload(seed + 1, GetParam()).check(bytes.data(), 1, 5));
}

/// A packet of the smallest path MTU that came from an earlier message, or from another place of
/// this one.
TEST_P(Sizes, EachStaleOrMisplacedPacketIsSeen)
{
  const Payload payload(seed, GetParam());
  const auto stale = message(payload, 1, 4);
  const auto good = message(payload, 1, 5);
  for (std::size_t at = 0; at + 8 <= good.size(); at += 256) {
    const std::size_t length = std::min<std::size_t>(256, good.size() - at);
    auto bytes = good;
    std::copy_n(stale.begin() + static_cast<std::ptrdiff_t>(at), length,
                bytes.begin() + static_cast<std::ptrdiff_t>(at));
    EXPECT_FALSE(payload.check(bytes.data(), 1, 5)) << "stale packet at " << at;
    if (at == 0) continue;
    bytes = good;
    std::copy_n(good.begin(), length, bytes.begin() + static_cast<std::ptrdiff_t>(at));
    EXPECT_FALSE(payload.check(bytes.data(), 1, 5)) << "misplaced packet at " << at;
  }
}

TEST_P(Sizes, ABufferCanBeStampedAgain)
{
  const Payload payload(seed, GetParam());
  auto bytes = message(payload, 0, 0);
  for (std::uint64_t number = 1; number < 4; ++number) {
    payload.stamp(bytes.data(), 0, number, number * 10);
    EXPECT_TRUE(payload.check(bytes.data(), 0, number));
    EXPECT_EQ(Payload::sent_ns(bytes.data()), number * 10);
  }
}

INSTANTIATE_TEST_SUITE_P(Payload, Sizes,
                         testing::Values(64, 65, 71, 72, 100, 255, 256, 257, 263, 264, 511, 512,
                                         520, 1000, 1024, 1031, 2047, 2048, 4096, 4097, 9000));

TEST(Payload, UnalignedBuffersAreChecked)
{
  const Payload payload(seed, 4096);
  std::vector<std::byte> space(4096 + 3);
  payload.fill(space.data() + 3);
  payload.stamp(space.data() + 3, 2, 9, 1);
  EXPECT_TRUE(payload.check(space.data() + 3, 2, 9));
}

} // namespace
} // namespace rdmalab::traffic
