#include "analysis/analyse.h"
#include "analysis/compare.h"
#include "analysis_fixture.h"
#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmalab::analysis {
namespace {

using ::testing::HasSubstr;

Result result_with(double retention, double half_width)
{
  Result result = analyse(test::loss_record());
  result.traffic.resize(1);
  result.traffic[0].baseline->low_bps = result.traffic[0].baseline->high_bps =
      result.traffic[0].baseline->goodput_bps;
  result.traffic[0].faulted.reset();
  result.traffic[0].retention =
      Retention{retention, retention - half_width, retention + half_width, {}};
  return result;
}

Change change_of(const Result& before, const Result& after)
{
  const auto comparison = compare(before, after);
  EXPECT_TRUE(comparison.ok());
  EXPECT_EQ(comparison->figures.size(), 2U);
  EXPECT_EQ(comparison->figures[1].figure, "retention");
  return comparison->figures[1].change;
}

TEST(Compare, JudgesByTheOverlapOfIntervals)
{
  const Result before = result_with(0.90, 0.02);
  EXPECT_EQ(change_of(before, result_with(0.80, 0.02)), Change::regressed);
  EXPECT_EQ(change_of(before, result_with(0.96, 0.02)), Change::improved);
  EXPECT_EQ(change_of(before, result_with(0.88, 0.02)), Change::noise);
  EXPECT_EQ(change_of(before, result_with(0.80, 0.09)), Change::inconclusive);
}

TEST(Compare, AHairIsNoRegressionHoweverExactTheClock)
{
  const Result before = result_with(0.900, 0);
  EXPECT_EQ(change_of(before, result_with(0.899, 0)), Change::noise);
  EXPECT_EQ(change_of(before, result_with(0.880, 0)), Change::regressed);
}

TEST(Compare, WithoutIntervalsOnlyEqualityCanBeTold)
{
  Result before = result_with(0.9, 0);
  Result after = result_with(0.5, 0);
  after.traffic[0].retention->low.reset();
  EXPECT_EQ(change_of(before, after), Change::inconclusive);
  after.traffic[0].retention->value = 0.9;
  EXPECT_EQ(change_of(before, after), Change::noise);
}

TEST(Compare, TheWorstChangeIsTheWhole)
{
  Result before = result_with(0.9, 0.01);
  Result after = result_with(0.5, 0.01);
  const auto comparison = compare(before, after);
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->change, Change::regressed);
  EXPECT_NEAR(*comparison->figures[1].relative, -0.444444, 1e-6);
  const Json json(*comparison);
  EXPECT_EQ(Json(json.get<Comparison>()).dump(), json.dump());
}

TEST(Compare, RefusesWhatCannotBeCompared)
{
  const Result good = result_with(0.9, 0.01);
  const auto refused = [&](Result other, const std::string& why) {
    const auto comparison = compare(good, other);
    ASSERT_FALSE(comparison);
    EXPECT_THAT(comparison.error().attempted, HasSubstr(why));
    EXPECT_EQ(comparison.error().exit, Exit::usage);
  };
  Result other = good;
  other.environment.clock = "real";
  refused(other, "virtual before, real after");
  other = good;
  other.lab = "another";
  refused(other, "labs differ");
  other = good;
  other.problems = {"traffic bypassed the fabric"};
  refused(other, "bypassed");
  other = good;
  other.traffic[0].name = "another";
  refused(other, "no traffic in common");
}

TEST(Compare, SaysWhatElseDiffers)
{
  const Result before = result_with(0.9, 0.01);
  Result after = before;
  after.environment.kernel = "7.4.0";
  const auto comparison = compare(before, after);
  ASSERT_TRUE(comparison);
  EXPECT_THAT(comparison->notes, ::testing::Contains(HasSubstr("7.3.4 before, 7.4.0 after")));
}

} // namespace
} // namespace rdmalab::analysis
