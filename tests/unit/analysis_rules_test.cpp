#include "analysis/analyse.h"
#include "analysis/rules.h"
#include "analysis_fixture.h"

#include <gmock/gmock.h>

namespace rdmalab::analysis {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

lab::Rule rule(const std::string& name)
{
  lab::Rule made;
  made.name = name;
  made.traffic = "roce";
  made.classes = {"data"};
  return made;
}

/// The fixture's record with one rule, which hit so many of so many in each faulted cell.
record::Record with(const lab::Rule& made, std::uint64_t matched, std::uint64_t fired)
{
  record::Record record = test::loss_record();
  record.lab.rules = {made};
  for (record::Cell& cell : record.cells)
    if (cell.condition == "faulted" && cell.traffic.front() == made.traffic)
      cell.rules = {{made.name, matched, fired, 0}};
  return record;
}

TEST(Rules, AreTheSumOfAllFaultedCells)
{
  const Result result = analyse(with(rule("gap"), 5, 5));
  ASSERT_THAT(result.rules, SizeIs(1));
  EXPECT_EQ(result.rules[0].matched, 15U);
  EXPECT_EQ(result.rules[0].fired, 15U);
  EXPECT_THAT(result.problems, IsEmpty());
}

TEST(Rules, ThatHitNothingMakeTheRunInvalidUnlessTheyMay)
{
  lab::Rule made = rule("gap");
  const Result invalid = analyse(with(made, 0, 0));
  EXPECT_EQ(invalid.verdict, Verdict::invalid);
  ASSERT_THAT(invalid.problems, SizeIs(1));
  EXPECT_THAT(invalid.problems[0], HasSubstr("rule gap hit nothing"));
  made.may_miss = true;
  EXPECT_THAT(analyse(with(made, 0, 0)).problems, IsEmpty());
}

TEST(Rules, AddressedOnesMustHitAllThatTheyMatch)
{
  const Result result = analyse(with(rule("gap"), 5, 4));
  ASSERT_THAT(result.problems, SizeIs(1));
  EXPECT_THAT(result.problems[0], HasSubstr("should hit all of 15 packets and hit 12"));
}

TEST(Rules, WithDiceAreHeldAgainstTheirShare)
{
  lab::Rule made = rule("dice");
  made.rate_ppm = 10'000;
  const Result fair = analyse(with(made, 100'000, 1'010));
  EXPECT_TRUE(fair.rules[0].consistent);
  EXPECT_EQ(fair.rules[0].requested_ppm, 10'000U);
  EXPECT_EQ(fair.rules[0].observed_ppm, 10'100U);
  EXPECT_THAT(fair.problems, IsEmpty());

  const Result loaded = analyse(with(made, 100'000, 2'000));
  EXPECT_FALSE(loaded.rules[0].consistent);
  ASSERT_THAT(loaded.problems, SizeIs(1));
  EXPECT_THAT(loaded.problems[0], HasSubstr("was to hit 1%"));
}

TEST(Rules, ThatWereNotInForceAreMissed)
{
  record::Record record = with(rule("gap"), 5, 5);
  test::cell_of(record, "roce/faulted/1").rules.clear();
  const Result result = analyse(record);
  ASSERT_THAT(result.problems, SizeIs(1));
  EXPECT_THAT(result.problems[0], HasSubstr("roce/faulted/1: rule gap was not in force"));
}

TEST(Rules, ForgeriesExplainWrongPayload)
{
  lab::Rule made = rule("forgery");
  made.kind = lab::RuleKind::forge;
  record::Record record = with(made, 5, 5);
  test::cell_of(record, "roce/faulted/0").flows[0].corrupt_messages = 5;
  EXPECT_THAT(analyse(record).problems, IsEmpty());
}

} // namespace
} // namespace rdmalab::analysis
