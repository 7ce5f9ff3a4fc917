#include "lab/quantity.h"
#include "lab/suggest.h"

#include <regex>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace rdmalab::lab;
using testing::HasSubstr;

namespace {

std::string message(Type type, std::string_view text)
{
  const auto parsed = parse_quantity(type, text);
  const auto* error = std::get_if<QuantityError>(&parsed);
  return error != nullptr ? error->message : "(a value)";
}

} // namespace

TEST(Quantity, EveryNamedUnitParsesAndMatchesThePattern)
{
  for (const Type type : {Type::time, Type::bytes, Type::rate, Type::share}) {
    std::istringstream names(unit_names(type));
    const std::regex pattern(quantity_pattern(type));
    for (std::string unit; std::getline(names >> std::ws, unit, ',');) {
      EXPECT_TRUE(std::holds_alternative<std::uint64_t>(parse_quantity(type, "1" + unit))) << unit;
      EXPECT_TRUE(std::regex_match("1" + unit, pattern)) << unit;
      EXPECT_FALSE(std::regex_match("1" + unit + "x", pattern)) << unit;
    }
    EXPECT_FALSE(std::regex_match("1", pattern));
  }
}

TEST(Quantity, EachMistakeHasItsWords)
{
  EXPECT_THAT(message(Type::time, "20"), HasSubstr("20 has no unit"));
  EXPECT_THAT(message(Type::time, "20 lightyears"), HasSubstr("unknown unit \"lightyears\""));
  EXPECT_THAT(message(Type::time, "soon"), HasSubstr("\"soon\" is not a time"));
  EXPECT_THAT(message(Type::time, ""), HasSubstr("is not a time"));
  EXPECT_THAT(message(Type::time, "1.5.2us"), HasSubstr("is not a time"));
  EXPECT_THAT(message(Type::time, "0.5ns"), HasSubstr("more digits than can be kept"));
  EXPECT_THAT(message(Type::time, "99999999999999999999s"), HasSubstr("too large"));
  EXPECT_THAT(message(Type::share, "101%"), HasSubstr("more than 100%"));
  EXPECT_THAT(message(Type::share, "1000001ppm"), HasSubstr("more than 100%"));
  EXPECT_THAT(message(Type::integer, "3.5"), HasSubstr("not a whole number"));
  EXPECT_THAT(message(Type::integer, "99999999999999999999"), HasSubstr("too large"));
  EXPECT_THAT(message(Type::integer, "0x10"), HasSubstr("not a whole number"));
}

TEST(Suggest, FindsWhatWasMeant)
{
  const std::vector<std::string> words{"name", "rate", "delay", "queue", "mbit"};
  EXPECT_EQ(nearest("nmae", words), "name");
  EXPECT_EQ(nearest("RATE", words), "rate");
  EXPECT_EQ(nearest("dleay", words), "delay");
  EXPECT_EQ(nearest("mbits", words), "mbit");
  EXPECT_EQ(nearest("hypothesis", words), std::nullopt);
  EXPECT_EQ(nearest(std::string(100'000, 'x'), words), std::nullopt);
  EXPECT_EQ(nearest("x", std::vector<std::string>{}), std::nullopt);
}

TEST(Suggest, DistanceCountsASwapAsOne)
{
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("ab", "ba"), 1U);
  EXPECT_EQ(edit_distance("Rate", "rate"), 0U);
}
