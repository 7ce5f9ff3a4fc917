#include "analysis_fixture.h"
#include "base/json.h"
#include "record/histogram.h"
#include "record/record.h"

#include <gtest/gtest.h>

namespace rdmalab::record {
namespace {

TEST(Record, SurvivesJson)
{
  const Record record = test::loss_record();
  const Json json(record);
  const auto again = json.get<Record>();
  EXPECT_EQ(Json(again).dump(), json.dump());
  EXPECT_EQ(digest(again), digest(record));
}

TEST(Record, TheDigestCoversWhatWasMeasuredAndNotTheMachineAroundIt)
{
  const Record record = test::loss_record();
  Record other = record;
  other.timing.wall_seconds += 1;
  other.environment.qemu = "11";
  EXPECT_EQ(digest(other), digest(record));
  other.cells[0].flows[0].bytes += 1;
  EXPECT_NE(digest(other), digest(record));
  other = record;
  other.lab.seed += 1;
  EXPECT_NE(digest(other), digest(record));
}

TEST(Record, TheDigestBearsTextThatIsNoUtf8)
{
  Record record = test::loss_record();
  record.cells[0].kernel_log = {"\xff"};
  EXPECT_NE(digest(record), digest(test::loss_record()));
}

TEST(Record, MissingKeysKeepTheirDefaults)
{
  const auto record =
      Json::parse(R"({"version": 1, "cells": [{"id": "a", "flows": [{"traffic": "t"}]}]})")
          .get<Record>();
  ASSERT_EQ(record.cells.size(), 1U);
  EXPECT_EQ(record.cells[0].flows.at(0).figure, std::nullopt);
  EXPECT_EQ(record.cells[0].cpus, 1U);
}

TEST(Histogram, QuantilesAreUpperEdgesWithinThreePercent)
{
  Histogram h;
  for (std::uint64_t v = 1; v <= 100'000; ++v) h.add(v);
  EXPECT_EQ(h.count(), 100'000U);
  EXPECT_EQ(h.min(), 1U);
  EXPECT_EQ(h.max(), 100'000U);
  const auto median = static_cast<double>(h.quantile(500'000));
  EXPECT_GE(median, 50'000);
  EXPECT_LE(median, 50'000 * 1.032);
  EXPECT_EQ(h.quantile(1'000'000), 100'000U);
  EXPECT_EQ(Histogram{}.quantile(500'000), 0U);
}

TEST(Histogram, BucketsMeetWithoutGaps)
{
  for (std::uint64_t v = 0; v < 100'000; ++v) {
    const auto b = Histogram::bucket(v);
    EXPECT_GE(Histogram::upper(b), v);
    if (b > 0) {
      EXPECT_LT(Histogram::upper(b - 1), v);
    }
  }
  EXPECT_EQ(Histogram::upper(Histogram::bucket(~0ULL)), ~0ULL);
}

TEST(Histogram, MergingEqualsAddingAll)
{
  Histogram a;
  Histogram b;
  Histogram all;
  for (std::uint64_t v : {5U, 70U, 900U}) a.add(v), all.add(v);
  for (std::uint64_t v : {1U, 12'345U}) b.add(v), all.add(v);
  a.merge(b);
  a.merge(Histogram{});
  EXPECT_EQ(Json(a).dump(), Json(all).dump());
  EXPECT_EQ(Json(Json(all).get<Histogram>()).dump(), Json(all).dump());
}

TEST(Histogram, RejectsAnAbsurdBucket)
{
  const Json json{{"count", 1}, {"buckets", Json::array({Json::array({9'999'999, 1})})}};
  EXPECT_THROW((void)json.get<Histogram>(), Json::exception);
}

} // namespace
} // namespace rdmalab::record
