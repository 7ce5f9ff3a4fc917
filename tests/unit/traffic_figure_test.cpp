/// The figure that a program's output holds.
#include "traffic/printed_figure.h"

#include <gtest/gtest.h>

namespace rdmalab::traffic {
namespace {

std::optional<std::uint64_t> found(const char* text, const char* pattern, const char* unit)
{
  lab::Command command;
  command.figure = pattern;
  command.unit = unit;
  return printed_figure(text, command);
}

TEST(PrintedFigure, IsTheLastMatchInWholeUnits)
{
  const char* text = "64 100 3.5\n64 100 4.25 us\nbye\n";
  EXPECT_EQ(found(text, R"(64 100 ([\d.]+))", "us"), 4'250U);
  EXPECT_EQ(found(text, R"(64 100 ([\d.]+))", "ns"), 4U);
  EXPECT_EQ(found(text, R"(64 100 ([\d.]+))", "ms"), 4'250'000U);
  EXPECT_EQ(found(text, R"(64 100 ([\d.]+))", "s"), 4'250'000'000U);
  EXPECT_EQ(found(text, R"(64 100 ([\d.]+))", "Mbit/s"), 4'250'000U);
  EXPECT_EQ(found(text, R"(64 100 ([\d.]+))", "MiB/s"), 35'651'584U);
}

TEST(PrintedFigure, CountsMatchesAndNeedsNoGroup)
{
  EXPECT_EQ(found("ping data: a\nping data: b\n", "ping data", "count"), 2U);
  EXPECT_EQ(found("7 7\n", "(7)", "count"), 2U);
  EXPECT_EQ(found("nothing\n", "ping data", "count"), 0U);
}

TEST(PrintedFigure, IsNothingWhereThereIsNoNumber)
{
  EXPECT_EQ(found("", "t=(.*)", "us"), std::nullopt);
  EXPECT_EQ(found("t=soon", "t=(.*)", "us"), std::nullopt);
  EXPECT_EQ(found("t=nan", "t=(.*)", "us"), std::nullopt);
  EXPECT_EQ(found("t=inf", "t=(.*)", "us"), std::nullopt);
  EXPECT_EQ(found("t=-1", "t=(.*)", "us"), std::nullopt);
  EXPECT_EQ(found("t=1e30", "t=(.*)", "us"), std::nullopt);
  EXPECT_EQ(found("t=1", "t=(.*)", "parsecs"), std::nullopt);
}

} // namespace
} // namespace rdmalab::traffic
