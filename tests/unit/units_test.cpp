#include "base/units.h"

#include <limits>

#include <gtest/gtest.h>

using namespace rdmalab;

TEST(Units, TimesAreNanoseconds)
{
  EXPECT_EQ(units::parse_time("20us"), 20'000U);
  EXPECT_EQ(units::parse_time("1.5ms"), 1'500'000U);
  EXPECT_EQ(units::parse_time("2s"), 2'000'000'000U);
  EXPECT_EQ(units::parse_time("100 ns"), 100U);
  EXPECT_EQ(units::parse_time("0ns"), 0U);
}

TEST(Units, WhatIsNotExactOrHasNoUnitIsNothing)
{
  EXPECT_EQ(units::parse_time("20"), std::nullopt);
  EXPECT_EQ(units::parse_time("us"), std::nullopt);
  EXPECT_EQ(units::parse_time("0.5ns"), std::nullopt);
  EXPECT_EQ(units::parse_time("-1us"), std::nullopt);
  EXPECT_EQ(units::parse_time("1e3us"), std::nullopt);
  EXPECT_EQ(units::parse_time("1.2.3us"), std::nullopt);
  EXPECT_EQ(units::parse_time("1.us"), std::nullopt);
  EXPECT_EQ(units::parse_time(".5us"), std::nullopt);
  EXPECT_EQ(units::parse_time("20 usx"), std::nullopt);
  EXPECT_EQ(units::parse_time(""), std::nullopt);
  EXPECT_EQ(units::parse_time("99999999999999999999s"), std::nullopt);
  EXPECT_EQ(units::parse_time("18446744073709551615s"), std::nullopt);
}

TEST(Units, BytesTellPowersOfTwoFromPowersOfTen)
{
  EXPECT_EQ(units::parse_bytes("64KiB"), 65'536U);
  EXPECT_EQ(units::parse_bytes("64KB"), 64'000U);
  EXPECT_EQ(units::parse_bytes("1GiB"), 1ULL << 30);
  EXPECT_EQ(units::parse_bytes("4096B"), 4096U);
  EXPECT_EQ(units::parse_bytes("0.5KiB"), 512U);
  EXPECT_EQ(units::parse_bytes("0.0001KiB"), std::nullopt);
  EXPECT_EQ(units::parse_bytes("64kib"), std::nullopt);
}

TEST(Units, Rates)
{
  EXPECT_EQ(units::parse_rate("1gbit"), 1'000'000'000U);
  EXPECT_EQ(units::parse_rate("2.5gbit"), 2'500'000'000U);
  EXPECT_EQ(units::parse_rate("250mbit"), 250'000'000U);
  EXPECT_EQ(units::parse_rate("100Mb/s"), 100'000'000U);
  EXPECT_EQ(units::parse_rate("8bit"), 8U);
  EXPECT_EQ(units::parse_rate("1gbps"), std::nullopt);
}

TEST(Units, SharesArePartsPerMillionUpToAll)
{
  EXPECT_EQ(units::parse_share("1%"), 10'000U);
  EXPECT_EQ(units::parse_share("0.01%"), 100U);
  EXPECT_EQ(units::parse_share("0.0001%"), 1U);
  EXPECT_EQ(units::parse_share("100ppm"), 100U);
  EXPECT_EQ(units::parse_share("100%"), 1'000'000U);
  EXPECT_EQ(units::parse_share("100.0001%"), std::nullopt);
  EXPECT_EQ(units::parse_share("101%"), std::nullopt);
  EXPECT_EQ(units::parse_share("0.00001%"), std::nullopt);
  EXPECT_EQ(units::parse_share("0.01"), std::nullopt);
}

TEST(Units, FormatsParseBackToTheSameValue)
{
  for (const std::uint64_t value :
       {0ULL, 1ULL, 7ULL, 999ULL, 1000ULL, 1024ULL, 1500ULL, 20'000ULL, 65'536ULL, 1'500'000ULL,
        999'999ULL, 1'000'000ULL, 123'456'789ULL, 2'500'000'000ULL}) {
    EXPECT_EQ(units::parse_time(units::format_time(value)), value) << units::format_time(value);
    EXPECT_EQ(units::parse_bytes(units::format_bytes(value)), value) << units::format_bytes(value);
    EXPECT_EQ(units::parse_rate(units::format_rate(value)), value) << units::format_rate(value);
    if (value <= 1'000'000) {
      EXPECT_EQ(units::parse_share(units::format_share(value)), value)
          << units::format_share(value);
    }
  }
}

TEST(Units, FormatsAreShort)
{
  EXPECT_EQ(units::format_time(20'000), "20us");
  EXPECT_EQ(units::format_time(1'500'000), "1.5ms");
  EXPECT_EQ(units::format_time(0), "0ns");
  EXPECT_EQ(units::format_bytes(65'536), "64KiB");
  EXPECT_EQ(units::format_rate(250'000'000), "250mbit");
  EXPECT_EQ(units::format_share(10'000), "1%");
  EXPECT_EQ(units::format_share(1), "0.0001%");
}
