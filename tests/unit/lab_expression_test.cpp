#include "lab/expression.h"
#include "lab/functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace rdmalab;
using namespace rdmalab::lab;
using testing::HasSubstr;

namespace {

Comparison good(std::string_view text)
{
  const auto parsed = parse_expression(text);
  EXPECT_TRUE(parsed.comparison) << text << ": "
                                 << (parsed.problems.empty() ? ""
                                                             : parsed.problems.front().message);
  return parsed.comparison.value_or(Comparison{});
}

/// The value of a constant left side.
double constant(const std::string& text)
{
  const auto value = evaluate(good(text + " == " + text).left,
                              [](const Call&) -> Result<Value> { return Error{}; });
  return value ? value->value : -1;
}

Judgement judged(const std::string& text, Value figure)
{
  const auto result = judge(good(text), [&](const Call&) -> Result<Value> { return figure; });
  EXPECT_TRUE(result.ok());
  return result ? result->judgement : Judgement::inconclusive;
}

Lab two_traffics(bool faults)
{
  Lab lab;
  lab.topology.hosts = {{"client", {}, {}}, {"server", {}, {}}};
  lab.traffic.resize(2);
  lab.traffic[0].name = "roce";
  lab.traffic[1].name = "tcp-a";
  lab.traffic[1].kind = TrafficKind::tcp;
  if (faults) {
    lab.faults.resize(1);
    lab.faults[0].name = "loss";
  }
  return lab;
}

} // namespace

TEST(Expression, NumbersCarryUnits)
{
  EXPECT_DOUBLE_EQ(constant("0.30"), 0.30);
  EXPECT_DOUBLE_EQ(constant("30%"), 0.30);
  EXPECT_DOUBLE_EQ(constant("150 %"), 1.5);
  EXPECT_DOUBLE_EQ(constant("10ppm"), 1e-5);
  EXPECT_DOUBLE_EQ(constant("900mbit"), 9e8);
  EXPECT_DOUBLE_EQ(constant("900Mb/s"), 9e8);
  EXPECT_DOUBLE_EQ(constant("1.5ms"), 1.5e6);
  EXPECT_DOUBLE_EQ(constant("64KiB"), 65536);
}

TEST(Expression, ProductsBindTighterThanSums)
{
  EXPECT_DOUBLE_EQ(constant("1 + 2 * 3"), 7);
  EXPECT_DOUBLE_EQ(constant("(1 + 2) * 3"), 9);
  EXPECT_DOUBLE_EQ(constant("10 - 2 - 3"), 5);
  EXPECT_DOUBLE_EQ(constant("12 / 2 / 3"), 2);
  EXPECT_DOUBLE_EQ(constant("50% * 900mbit"), 4.5e8);
  EXPECT_DOUBLE_EQ(constant("1gbit / 250mbit"), 4);
}

TEST(Expression, CallsKnowTheirArgumentsByMeaning)
{
  const Call cpu = good("cpu(roce, server) < 50%").left.call;
  EXPECT_EQ(cpu.function, Function::cpu);
  EXPECT_EQ(cpu.traffic, "roce");
  EXPECT_EQ(cpu.host, "server");
  EXPECT_EQ(cpu.part, "total");
  EXPECT_EQ(cpu.condition, "");
  EXPECT_EQ(good("cpu(roce, server, baseline) < 50%").left.call.condition, "baseline");
  const Call both = good("cpu(roce, server, rxe, faulted) < 50%").left.call;
  EXPECT_EQ(both.part, "rxe");
  EXPECT_EQ(both.condition, "faulted");
  const Call latency = good("latency(roce-a, p999, baseline) <= 3ms").left.call;
  EXPECT_EQ(latency.traffic, "roce-a");
  EXPECT_EQ(latency.percentile, "p999");
  EXPECT_EQ(latency.condition, "baseline");
  EXPECT_EQ(good("counter(client, rcvd_seq_err, roce) > 0").left.call.traffic, "roce");
  EXPECT_EQ(good("counter(client, rcvd_seq_err) > 0").left.call.traffic, "");
  EXPECT_EQ(good("completions(roce, IBV_WC_RETRY_EXC_ERR) == 0").left.call.status,
            "IBV_WC_RETRY_EXC_ERR");
  EXPECT_EQ(good("setup(roce, register) < 1ms").left.call.step, "register");
  EXPECT_EQ(good("observed(loss) >= 0.5%").left.call.fault, "loss");
}

TEST(Expression, MistakesHaveAColumn)
{
  struct Case {
    std::string text;
    int column;
    std::string message;
  };
  const std::vector<Case> cases{
      {"", 1, "expected a number or a function, not the end"},
      {"goodput(tcp) >= 900", 17, "missing unit: a rate is compared with a bare number"},
      {"900 < goodput(tcp)", 1, "missing unit"},
      {"goodput(tcp) + 5 > 1mbit", 16, "missing unit: a rate is added to a bare number"},
      {"latency(tcp, p99) < 900mbit", 19, "a time can't be compared with a rate"},
      {"latency(tcp, p99) * goodput(tcp) < 1", 19, "a time can't be multiplied by a rate"},
      {"5 / goodput(tcp) < 1", 3, "a number can't be divided by a rate"},
      {"counter(client, sent_pkts) < 5%", 28, "a count can't be compared with a ratio"},
      {"retention(tcp) < 5 parsecs", 18, "5parsecs: unknown unit \"parsecs\""},
      {"latency(tcp, p99) < 3mss", 21, "did you mean \"ms\"?"},
      {"retention(tcp) < 0.3 5", 22, "did not expect 5"},
      {"0.1 < retention(tcp) < 0.3", 22, "two comparisons"},
      {"retention(tcp) <", 17, "expected a number or a function, not the end"},
      {"retention(tcp)", 15, "expected a comparison, not the end"},
      {"retention(tcp) = 1", 16, "expected a comparison, not \"=\""},
      {"retention tcp < 1", 11, "expected ( after retention, not \"t\""},
      {"retention() < 1", 11, "expected a name, not \")\""},
      {"retention(tcp < 1", 15, "expected , or ) and not \"<\""},
      {"retention(tcp, x) < 1", 16, "retention takes no \"x\" here"},
      {"latency(tcp) < 1ms", 1, "latency needs a percentile"},
      {"latency(tcp, p98) < 1ms", 14, "unknown percentile \"p98\"; did you mean \"p99\"?"},
      {"cpu(a, b, rxee) < 1", 11, "unknown argument \"rxee\"; did you mean \"rxe\"?"},
      {"cpu(a, b, baseline, rxe) < 1", 21, "cpu takes no \"rxe\" here"},
      {"counter(client, sent_packets) > 0", 17, "unknown counter \"sent_packets\""},
      {"completions(roce, RETRY) > 0", 19, "unknown status \"RETRY\""},
      {"setup(roce, rtss) < 1ms", 13, "unknown step \"rtss\"; did you mean \"rts\"?"},
      {"setup(roce, rts) < 1", 20, "missing unit"},
      {"foo(tcp) < 1", 1, "unknown function \"foo\""},
      {"1..2 < 3", 1, "\"1..2\" is not a number"},
      {"(1 < 3", 4, "expected ) and not \"<\""},
      {"0.1ns < 3ns", 1, "more digits than can be kept exactly"},
      {"$ < 3", 1, "expected a number or a function, not \"$\""},
  };
  for (const Case& c : cases) {
    const auto parsed = parse_expression(c.text);
    ASSERT_FALSE(parsed.comparison) << c.text;
    ASSERT_EQ(parsed.problems.size(), 1U) << c.text;
    EXPECT_THAT(parsed.problems[0].message, HasSubstr(c.message)) << c.text;
    EXPECT_EQ(parsed.problems[0].column, c.column) << c.text << ": " << parsed.problems[0].message;
  }
}

/// What figure() gives is for the traffic's unit to say.
TEST(Expression, AProgramsFigureHasTheDimensionOfItsUnit)
{
  Lab lab = two_traffics(true);
  const auto add = [&](const char* name, const char* unit) {
    Traffic t;
    t.name = name;
    t.kind = TrafficKind::command;
    t.command.figure = "(x)";
    t.command.unit = unit;
    lab.traffic.push_back(t);
  };
  add("lat", "us");
  add("pings", "count");
  add("bw", "MiB/s");
  for (const char* text :
       {"figure(lat) < 5us", "figure(lat, baseline) < 1.05 * latency(roce, p50)",
        "figure(pings) == 20", "figure(pings, faulted) / figure(pings, baseline) > 90%",
        "figure(bw) > 0.9 * goodput(roce)", "5us > figure(lat)", "2 * figure(lat) < 1ms"}) {
    const auto parsed = parse_expression(text, lab);
    ASSERT_TRUE(parsed.comparison) << text << ": " << parsed.problems.front().message;
    EXPECT_TRUE(check_expression(*parsed.comparison, lab).empty()) << text;
  }
  for (const char* text : {"figure(lat) < 5", "figure(lat) < 5mbit", "figure(pings) < 5%",
                           "figure(bw) < 1us", "figure(pings) + figure(lat) > 1us"})
    EXPECT_FALSE(parse_expression(text, lab).comparison) << text;
  // Without the lab's traffics anything goes, so that one mistake is one message.
  EXPECT_TRUE(parse_expression("figure(lat) < 5mbit").comparison);
  EXPECT_TRUE(parse_expression("figure(lat) * figure(x) / 3us < 5mbit").comparison);
  EXPECT_EQ(good("figure(lat, faulted) < 5us").left.call.condition, "faulted");
}

TEST(Expression, EndlessTextIsRefused)
{
  EXPECT_FALSE(parse_expression(std::string(400, '(') + "1").comparison);
  EXPECT_FALSE(parse_expression(std::string(100'000, '(')).comparison);
  std::string sum = "1";
  for (int i = 0; i < 200; ++i) sum += "+1";
  EXPECT_FALSE(parse_expression(sum + " > 1").comparison);
}

TEST(Expression, NamesAreCheckedAgainstTheLab)
{
  const Lab lab = two_traffics(true);
  const auto first = [&](std::string_view text) {
    const auto problems = check_expression(good(text), lab);
    return problems.empty() ? Problem{} : problems.front();
  };
  EXPECT_EQ(first("retention(roce) < retention(tcp-a)").message, "");
  EXPECT_EQ(first("cpu(roce, fabric, softirq) < 1").message, "");
  EXPECT_THAT(first("retention(rose) < 1").message,
              HasSubstr("no traffic \"rose\"; did you mean \"roce\"?"));
  EXPECT_EQ(first("1 > retention(rose)").column, 15);
  EXPECT_THAT(first("cpu(roce, sever) < 1").message, HasSubstr("no host \"sever\""));
  EXPECT_EQ(first("cpu(roce, sever) < 1").column, 11);
  EXPECT_THAT(first("counter(fabric, sent_pkts) > 0").message, HasSubstr("no host \"fabric\""));
  EXPECT_THAT(first("counter(client, sent_pkts, nope) > 0").message,
              HasSubstr("no traffic \"nope\""));
  EXPECT_THAT(first("observed(lost) > 0%").message, HasSubstr("no fault \"lost\""));
  EXPECT_THAT(first("completions(tcp-a, IBV_WC_SUCCESS) > 0").message,
              HasSubstr("no work completions"));
  EXPECT_THAT(first("setup(tcp-a, rts) > 0ns").message, HasSubstr("sets up no queue pair"));
}

TEST(Expression, WithoutFaultsThereIsNoRetention)
{
  const Lab lab = two_traffics(false);
  EXPECT_EQ(check_expression(good("retention(roce) < 1"), lab).size(), 1U);
  EXPECT_EQ(check_expression(good("goodput(roce, faulted) < 1gbit"), lab).size(), 1U);
  EXPECT_TRUE(check_expression(good("goodput(roce) < 1gbit"), lab).empty());
  EXPECT_EQ(condition_of(good("goodput(roce) < 1gbit").left.call, lab), "baseline");
  EXPECT_EQ(condition_of(good("goodput(roce) < 1gbit").left.call, two_traffics(true)), "faulted");
  EXPECT_EQ(condition_of(good("goodput(roce, baseline) < 1gbit").left.call, two_traffics(true)),
            "baseline");
}

TEST(Expression, AnIntervalPassesFailsOrStraddles)
{
  EXPECT_EQ(judged("retention(a) < 0.30", {0.28, 0.27, 0.29}), Judgement::pass);
  EXPECT_EQ(judged("retention(a) < 0.30", {0.33, 0.31, 0.35}), Judgement::fail);
  EXPECT_EQ(judged("retention(a) < 0.30", {0.29, 0.27, 0.31}), Judgement::inconclusive);
  EXPECT_EQ(judged("retention(a) < 0.30", {0.30, 0.30, 0.30}), Judgement::fail);
  EXPECT_EQ(judged("retention(a) <= 0.30", {0.30, 0.30, 0.30}), Judgement::pass);
  EXPECT_EQ(judged("retention(a) > 0.30", {0.30, 0.30, 0.30}), Judgement::fail);
  EXPECT_EQ(judged("retention(a) >= 0.30", {0.30, 0.30, 0.30}), Judgement::pass);
  EXPECT_EQ(judged("0.30 > retention(a)", {0.28, 0.27, 0.29}), Judgement::pass);
  EXPECT_EQ(judged("corrupt(a) == 0", {0, 0, 0}), Judgement::pass);
  EXPECT_EQ(judged("corrupt(a) == 0", {1, 1, 1}), Judgement::fail);
  EXPECT_EQ(judged("corrupt(a) == 0", {1, 0, 2}), Judgement::inconclusive);
}

TEST(Expression, IntervalsGoThroughArithmetic)
{
  const auto figure = [](const Call& call) -> Result<Value> {
    if (call.traffic == "a") return Value{2, 1, 3};
    return Value{10, 8, 20};
  };
  const auto value = [&](const std::string& text) {
    return evaluate(good(text + " > 0").left, figure).value();
  };
  const Value difference = value("corrupt(b) - corrupt(a)");
  EXPECT_DOUBLE_EQ(difference.value, 8);
  EXPECT_DOUBLE_EQ(difference.low, 5);
  EXPECT_DOUBLE_EQ(difference.high, 19);
  const Value quotient = value("corrupt(b) / corrupt(a)");
  EXPECT_DOUBLE_EQ(quotient.value, 5);
  EXPECT_DOUBLE_EQ(quotient.low, 8.0 / 3);
  EXPECT_DOUBLE_EQ(quotient.high, 20);
  const Value product = value("retention(a) * retention(b)");
  EXPECT_DOUBLE_EQ(product.low, 8);
  EXPECT_DOUBLE_EQ(product.high, 60);
}

TEST(Expression, WhatHasNoFigureIsAnError)
{
  const auto none = [](const Call&) -> Result<Value> {
    return Error{Exit::inconclusive, "no figure", 0, {}, {}};
  };
  EXPECT_FALSE(judge(good("retention(a) < 1"), none).ok());
  const auto zero = [](const Call&) -> Result<Value> { return Value{0, -1, 1}; };
  EXPECT_FALSE(evaluate(good("retention(a) / retention(b) < 1").left, zero).ok());
}

TEST(Expression, EverySignatureParsesAsItsUsageSays)
{
  for (const Signature& signature : signatures()) {
    std::string text = signature.name + "(";
    for (const Parameter p : signature.required)
      text += (text.back() == '(' ? "" : ", ") +
              (words_of(p).empty() ? std::string("x") : words_of(p).front());
    for (const Parameter p : signature.optional)
      text += ", " + (words_of(p).empty() ? std::string("x") : words_of(p).back());
    text += ")";
    EXPECT_TRUE(parse_expression(text + " == " + text).comparison) << text;
  }
}
