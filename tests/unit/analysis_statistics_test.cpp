#include "analysis/statistics.h"
#include "analysis/words.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace rdmalab::analysis {
namespace {

using Values = std::vector<double>;

TEST(Statistics, MeanAndSampleDeviation)
{
  const Values v{2, 4, 4, 4, 5, 5, 7, 9};
  EXPECT_DOUBLE_EQ(mean(v), 5);
  EXPECT_NEAR(sample_sd(v), std::sqrt(32.0 / 7), 1e-12);
  EXPECT_EQ(mean(Values{}), 0);
  EXPECT_EQ(sample_sd(Values{3}), 0);
}

TEST(Statistics, StudentTAgreesWithTables)
{
  EXPECT_NEAR(student_t_975(1), 12.706, 0.001);
  EXPECT_NEAR(student_t_975(2), 4.303, 0.001);
  EXPECT_NEAR(student_t_975(9), 2.262, 0.001);
  EXPECT_NEAR(student_t_975(29), 2.045, 0.001);
  EXPECT_NEAR(student_t_975(40), 2.021, 0.001);
  EXPECT_NEAR(student_t_975(120), 1.980, 0.001);
  EXPECT_NEAR(student_t_975(1e9), 1.960, 0.001);
  EXPECT_NEAR(student_t_975(2.5), 3.5747, 0.02); // by numerical integration
  EXPECT_NEAR(student_t_975(3.5), 2.9401, 0.01);
  EXPECT_GE(student_t_975(1.5), 6.0167); // errs on the wide side
  EXPECT_DOUBLE_EQ(student_t_975(0.1), student_t_975(1));
}

TEST(Statistics, MeanInterval)
{
  const auto i = mean_interval(Values{10, 11, 12}); // sd 1: half width 4.3027/sqrt(3)
  ASSERT_TRUE(i);
  EXPECT_NEAR(i->low, 11 - 2.4842, 1e-3);
  EXPECT_NEAR(i->high, 11 + 2.4842, 1e-3);
  EXPECT_FALSE(mean_interval(Values{10}));
  EXPECT_EQ(mean_interval(Values{7, 7, 7}), (Interval{7, 7}));
}

TEST(Statistics, RatioIntervalSurroundsTheRatioAndStaysPositive)
{
  const Values above{30, 20, 34};
  const Values below{100, 101, 99};
  const auto r = ratio(above, below);
  const auto i = ratio_interval(above, below);
  ASSERT_TRUE(r && i);
  EXPECT_DOUBLE_EQ(*r, 0.28);
  EXPECT_GT(i->low, 0);
  EXPECT_LT(i->low, *r);
  EXPECT_GT(i->high, *r);
  EXPECT_NEAR(i->low * i->high, *r * *r, 1e-9); // symmetric in the logarithm
}

TEST(Statistics, RatioIntervalByHand)
{
  // Only the numerator varies: sd 1, mean 10, n 3; relative variance 1/300; df 2.
  const auto i = ratio_interval(Values{9, 10, 11}, Values{20, 20, 20});
  ASSERT_TRUE(i);
  const double half = 4.3027 * std::sqrt(1.0 / 300);
  EXPECT_NEAR(i->low, 0.5 * std::exp(-half), 1e-4);
  EXPECT_NEAR(i->high, 0.5 * std::exp(half), 1e-4);
}

TEST(Statistics, RatioIntervalAtTheEdges)
{
  EXPECT_FALSE(ratio_interval(Values{1}, Values{2, 2}));
  EXPECT_FALSE(ratio(Values{1}, Values{0}));
  EXPECT_FALSE(ratio_interval(Values{1, 1}, Values{0, 0}));
  EXPECT_EQ(ratio_interval(Values{0, 0}, Values{2, 2}), (Interval{0, 0}));
  EXPECT_EQ(ratio_interval(Values{1, 1}, Values{2, 2}), (Interval{0.5, 0.5}));
}

TEST(Statistics, WilsonAgreesWithKnownValues)
{
  // 1203 of 120000 at 99 %: R, binom::binom.wilson(1203, 120000, conf.level = 0.99): 0.009311 …
  // 0.010793
  const auto i = wilson_ppm(1203, 120000);
  EXPECT_NEAR(static_cast<double>(i.low_ppm), 9311, 3);
  EXPECT_NEAR(static_cast<double>(i.high_ppm), 10793, 3);
  // No hits: the upper bound is z²/(n+z²).
  const auto none = wilson_ppm(0, 1000);
  EXPECT_EQ(none.low_ppm, 0U);
  EXPECT_EQ(none.high_ppm,
            static_cast<std::uint64_t>(std::ceil(1e6 * z_99 * z_99 / (1000 + z_99 * z_99))));
  const auto all = wilson_ppm(1000, 1000);
  EXPECT_EQ(all.high_ppm, 1'000'000U);
  EXPECT_LT(all.low_ppm, 1'000'000U);
  EXPECT_EQ(wilson_ppm(0, 0).high_ppm, 1'000'000U);
}

TEST(Statistics, ShareRoundsAndDoesNotOverflow)
{
  EXPECT_EQ(share_ppm(1, 3), 333'333U);
  EXPECT_EQ(share_ppm(2, 3), 666'667U);
  EXPECT_EQ(share_ppm(0, 0), std::nullopt);
  EXPECT_EQ(share_ppm(std::uint64_t{1} << 62, std::uint64_t{1} << 63), 500'000U);
}

TEST(Statistics, RoundedNeverGivesWhatIsNoNumber)
{
  EXPECT_EQ(rounded(0.12345678), 0.123457);
  EXPECT_EQ(rounded(std::numeric_limits<double>::quiet_NaN()), std::nullopt);
  EXPECT_EQ(rounded(std::numeric_limits<double>::infinity()), std::nullopt);
  EXPECT_FALSE(std::signbit(*rounded(-1e-12)));
}

TEST(Words, ThreeDigitsAndUnits)
{
  EXPECT_EQ(rate_words(0), "0 b/s");
  EXPECT_EQ(rate_words(941.2e6), "941 Mb/s");
  EXPECT_EQ(rate_words(999.7e6), "1 Gb/s");
  EXPECT_EQ(time_words(64'300), "64.3 us");
  EXPECT_EQ(time_words(1'500'000), "1.5 ms");
  EXPECT_EQ(percent_words(0.28), "28 %");
  EXPECT_EQ(percent_words(0.0012), "0.12 %");
  EXPECT_EQ(count_words(1'234'567), "1 234 567");
  EXPECT_EQ(count_words(123), "123");
  EXPECT_EQ(three_digits(9.996), "10");
}

} // namespace
} // namespace rdmalab::analysis
