/// Advice, claims and sweeps: what is said of figures that are known.
#include "analysis/advice.h"
#include "analysis/analyse.h"
#include "analysis/sweep.h"
#include "analysis_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmalab::analysis {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TEST(Advice, NamesTheFiguresBehindIt)
{
  const Result result = analyse(test::loss_record());
  ASSERT_THAT(result.problems, IsEmpty());
  const auto advice = advise(result);
  EXPECT_THAT(advice, Contains(Field(&Advice::advice, HasSubstr("loses next to nothing"))));
  EXPECT_THAT(advice, Contains(Field(&Advice::why, HasSubstr("tcp kept"))));
}

/// Two traffics that differ in one option are what that option gains or costs.
TEST(Advice, WeighsCheapOptions)
{
  Result result = analyse(test::loss_record());
  TrafficResult more = result.traffic[0];
  more.name = "moderated";
  more.options["signal_every"] = "16";
  more.baseline->latency->median_ns *= 2;
  for (auto& [host, cpu] : more.cpu_baseline) *cpu.seconds_per_gib /= 2;
  result.traffic.push_back(more);
  TrafficResult nagle = result.traffic[1];
  nagle.name = "nodelay";
  nagle.options["nodelay"] = "true";
  result.traffic.push_back(nagle);
  const auto advice = advise(result);
  EXPECT_THAT(advice,
              Contains(Field(&Advice::advice, HasSubstr("signal_every) gains here, and costs"))));
  EXPECT_THAT(advice, Contains(Field(&Advice::why, HasSubstr("from roce to moderated: CPU"))));
  EXPECT_THAT(advice, Contains(Field(&Advice::advice, HasSubstr("TCP_NODELAY changes nothing"))));
  result.traffic.back().options["congestion"] = "reno";
  EXPECT_THAT(advise(result), Not(Contains(Field(&Advice::advice, HasSubstr("TCP_NODELAY")))));
}

TEST(Advice, IsNotGivenWithoutProof)
{
  Result result = analyse(test::loss_record());
  result.problems.emplace_back("it did not cross the fabric");
  EXPECT_THAT(advise(result), IsEmpty());
}

TEST(Claims, AreConfirmedContradictedOrLeft)
{
  record::Record record = test::loss_record();
  record.lab.claims = {{"it collapses", "lesson 5", "retention(roce) < 0.5", {}, 1, 1},
                       {"it does not", "nowhere", "retention(roce) > 0.5", "it does", 1, 1},
                       {"hardware", "lesson 2", "", "there is none", 0, 0}};
  const Result result = analyse(record);
  ASSERT_THAT(result.claims, SizeIs(3));
  EXPECT_EQ(result.claims[0].verdict, ClaimVerdict::confirmed);
  EXPECT_NE(result.claims[0].measured, "");
  EXPECT_EQ(result.claims[1].verdict, ClaimVerdict::contradicted);
  EXPECT_EQ(result.claims[1].because, "it does");
  EXPECT_EQ(result.claims[2].verdict, ClaimVerdict::unmeasured);
  EXPECT_EQ(result.verdict, analyse(test::loss_record()).verdict) << "a claim fails no lab";
}

TEST(Sweep, CollectsAPointForEachRate)
{
  record::Record record = test::loss_record();
  record.lab.sweep = {record.lab.faults[0].name, {10'000}};
  SweepResult sweep = begin_sweep(record.lab);
  EXPECT_EQ(sweep.kind, "loss");
  const Result result = analyse(record);
  add_point(sweep, 10'000, result);
  add_point(sweep, 20'000, result);
  ASSERT_THAT(sweep.curves, SizeIs(2));
  EXPECT_EQ(sweep.curves[0].traffic, "roce");
  ASSERT_THAT(sweep.curves[0].points, SizeIs(2));
  EXPECT_EQ(sweep.curves[0].points[1].rate_ppm, 20'000U);
  EXPECT_EQ(sweep.curves[0].points[1].retention->value, result.traffic[0].retention->value);
  EXPECT_THAT(sweep.record_digests, SizeIs(2));
}

} // namespace
} // namespace rdmalab::analysis
