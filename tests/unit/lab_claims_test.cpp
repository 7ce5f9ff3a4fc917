#include "lab/parse.h"
#include "lab/sentence.h"
#include "lab/sweep.h"

#include <gmock/gmock.h>

namespace rdmalab::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Parsed parsed(const std::string& rest)
{
  return parse_all("version: 1\nname: x\n"
                   "topology: {hosts: [client, server], link: {rate: 250mbit, delay: 20us}}\n"
                   "traffic: [{name: roce, kind: verbs, from: client, to: server}]\n"
                   "faults:\n"
                   "  - {name: loss, where: {to: server}, kind: loss, rate: 1%}\n"
                   "  - {name: late, where: {to: client}, kind: delay, delay: 1ms}\n" +
                       rest,
                   "x.yaml");
}

void expect_refused(const std::string& rest, const std::string& message, int line)
{
  const Parsed found = parsed(rest);
  ASSERT_THAT(found.diagnostics, SizeIs(1)) << message;
  EXPECT_THAT(found.diagnostics[0].message, HasSubstr(message));
  EXPECT_EQ(found.diagnostics[0].line, line);
}

TEST(LabClaims, AreComparisonsOrSayWhyNot)
{
  const Parsed found =
      parsed("claims:\n"
             "  - {claim: It collapses, where: lesson 5, holds: retention(roce) < 30%}\n"
             "  - {claim: Faster in hardware, where: lesson 2, because: no hardware}\n");
  ASSERT_TRUE(found.lab) << found.diagnostics.front().message;
  ASSERT_THAT(found.lab->claims, SizeIs(2));
  EXPECT_EQ(found.lab->claims[0].holds, "retention(roce) < 30%");
  EXPECT_EQ(found.lab->claims[0].line, 9);
  EXPECT_EQ(found.lab->claims[1].because, "no hardware");
}

TEST(LabClaims, AreRefusedWhereTheyCanNotBeJudged)
{
  expect_refused("claims: [{claim: a, where: b}]\n", "nothing is said of how", 8);
  expect_refused("claims:\n  - {claim: a, where: b, holds: retention(rock) < 1}\n", "rock", 9);
  expect_refused("claims:\n  - {claim: a, holds: retention(roce) < 1}\n", "where", 9);
  expect_refused("claims: it is so\n", "claims is a list", 8);
}

TEST(LabConclusion, IsTextWithFiguresInBraces)
{
  const Parsed found =
      parsed("conclusion:\n"
             "  - RoCE kept {retention(roce) in %} of {goodput(roce, baseline)}.\n");
  ASSERT_TRUE(found.lab) << found.diagnostics.front().message;
  const ParsedSentence sentence = parse_sentence(found.lab->conclusion.at(0), *found.lab);
  EXPECT_THAT(sentence.problems, IsEmpty());
  ASSERT_THAT(sentence.pieces, SizeIs(3));
  EXPECT_EQ(sentence.pieces[0].text, "RoCE kept ");
  EXPECT_TRUE(sentence.pieces[0].percent);
  EXPECT_EQ(sentence.pieces[0].figure->dimension, Dimension::ratio);
  EXPECT_FALSE(sentence.pieces[1].percent);
  EXPECT_EQ(sentence.pieces[1].figure->dimension, Dimension::rate);
  EXPECT_EQ(sentence.pieces[2].text, ".");
  EXPECT_FALSE(sentence.pieces[2].figure);
}

TEST(LabConclusion, IsRefusedAtItsColumn)
{
  expect_refused("conclusion: well done\n", "conclusion is a list", 8);
  expect_refused("conclusion:\n  - RoCE kept {retention(rock)}.\n", "rock", 9);
  expect_refused("conclusion:\n  - RoCE kept {retention(roce).\n", "not closed", 9);
  expect_refused("conclusion:\n  - RoCE sent {goodput(roce) in %}.\n", "only a ratio", 9);
  expect_refused("conclusion:\n  - RoCE sent {goodput(roce) > 1bit}.\n", "did not expect", 9);
  const Parsed found = parsed("conclusion:\n  - RoCE kept {retention(rock)}.\n");
  EXPECT_EQ(found.diagnostics.at(0).column, 26); // of the name
}

TEST(LabSweep, RunsTheLabAtEachRate)
{
  const Parsed found = parsed("sweep: {fault: loss, rates: [1%, 0.01%]}\n"
                              "expect: [retention(roce) < 50%]\n");
  ASSERT_TRUE(found.lab) << found.diagnostics.front().message;
  EXPECT_THAT(found.lab->sweep.rates_ppm, ElementsAre(100U, 10'000U));
  const Lab point = at_rate(*found.lab, 100);
  EXPECT_EQ(point.faults[0].rate_ppm, 100U);
  EXPECT_EQ(point.faults[1].delay_ns, 1'000'000U);
  EXPECT_THAT(point.expect, IsEmpty());
  EXPECT_THAT(point.sweep.rates_ppm, IsEmpty());
}

TEST(LabSweep, IsRefusedWhereThereIsNoRate)
{
  expect_refused("sweep: {fault: loss, rates: [0.1]}\n", "unit", 8);
  expect_refused("sweep: {fault: late, rates: [0.1%]}\n", "has no share", 8);
  expect_refused("sweep: {fault: lots, rates: [0.1%]}\n", "no fault \"lots\"", 8);
}

} // namespace
} // namespace rdmalab::lab
