#include "analysis/analyse.h"
#include "analysis/faults.h"
#include "analysis/proof.h"
#include "analysis_fixture.h"
#include "base/json.h"

#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmalab::analysis {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Result analysed(const std::function<void(record::Record&)>& change)
{
  record::Record record = test::loss_record();
  change(record);
  return analyse(record);
}

/// The change makes the run invalid, for this reason, with this exit status, and leaves no number.
void expect_invalid(const std::function<void(record::Record&)>& change, const std::string& reason,
                    Exit exit = Exit::setup)
{
  const Result result = analysed(change);
  EXPECT_EQ(result.verdict, Verdict::invalid);
  EXPECT_THAT(result.problems, Contains(HasSubstr(reason)));
  EXPECT_EQ(exit_status(result, false), exit);
  for (const TrafficResult& t : result.traffic) EXPECT_FALSE(t.retention);
  for (const ExpectationResult& e : result.expectations) {
    EXPECT_EQ(e.verdict, Verdict::invalid);
    EXPECT_FALSE(e.value);
  }
}

record::Impairment& to_server(record::Record& r, const std::string& cell)
{
  return test::cell_of(r, cell).impairments[1];
}

TEST(Analyse, ASoundRecordPasses)
{
  const Result result = analysed([](record::Record&) {});
  EXPECT_THAT(result.problems, IsEmpty());
  EXPECT_EQ(result.verdict, Verdict::pass);
  EXPECT_EQ(exit_status(result, true), Exit::ok);
  ASSERT_EQ(result.traffic.size(), 2U);

  const TrafficResult& roce = result.traffic[0];
  ASSERT_TRUE(roce.baseline && roce.faulted && roce.retention && roce.limit);
  EXPECT_NEAR(static_cast<double>(roce.baseline->goodput_bps), 930e6, 1e6);
  EXPECT_EQ(roce.faulted->repeats_bps.size(), 3U);
  EXPECT_NEAR(roce.retention->value, 252.0 / 930, 0.001);
  EXPECT_LT(*roce.retention->low, roce.retention->value);
  EXPECT_GT(*roce.retention->high, roce.retention->value);
  ASSERT_TRUE(roce.retention->predicted);
  EXPECT_EQ(roce.limit->by, "link");
  EXPECT_EQ(roce.cpu.at("client").rxe_ns, 150'000'000U);
  EXPECT_DOUBLE_EQ(roce.cpu.at("client").percent_of_core, 35);
  // 0.35 s for 252 Mb: 0.35 / (252e6 / 8 / 2^30)
  EXPECT_NEAR(*roce.cpu.at("client").seconds_per_gib, 11.93, 0.05);
  EXPECT_EQ(roce.counters.at("server").at("rcvd_seq_err"), 21U);
  EXPECT_GT(roce.completions.at("IBV_WC_SUCCESS"), 0U);
  ASSERT_TRUE(roce.faulted->latency);
  EXPECT_GE(roce.faulted->latency->p99_ns, roce.faulted->latency->median_ns);

  ASSERT_EQ(result.faults.size(), 1U);
  const FaultResult& loss = result.faults[0];
  EXPECT_EQ(loss.requested_ppm, 10'000U);
  EXPECT_EQ(loss.applied_ppm, 10'000U);
  EXPECT_TRUE(loss.consistent);
  EXPECT_LE(*loss.observed_low_ppm, 10'000U);
  EXPECT_GE(*loss.observed_high_ppm, 10'000U);

  ASSERT_EQ(result.expectations.size(), 2U);
  EXPECT_EQ(result.expectations[0].verdict, Verdict::pass);
  EXPECT_NEAR(*result.expectations[0].value, 0.271, 0.001);
}

TEST(Analyse, TheKeysOfTheDocumentAreStable)
{
  const Json json(analysed([](record::Record&) {}));
  const Json& roce = json.at("traffic").at(0);
  EXPECT_EQ(json.at("version"), 1);
  EXPECT_EQ(json.at("lab"), "loss-1pct");
  EXPECT_EQ(json.at("verdict"), "pass");
  EXPECT_TRUE(json.at("record_digest").get<std::string>().starts_with("sha256:"));
  for (const char* key : {"engine", "clock", "accelerator", "kernel", "qemu", "rdmalab"})
    EXPECT_TRUE(json.at("environment").at(key).is_string()) << key;
  for (const char* key : {"wall_seconds", "first_packet_seconds"})
    EXPECT_TRUE(json.at("timing").at(key).is_number()) << key;
  EXPECT_EQ(roce.at("name"), "roce");
  EXPECT_EQ(roce.at("kind"), "verbs");
  EXPECT_TRUE(roce.at("baseline").at("goodput_bps").is_number_unsigned());
  EXPECT_TRUE(roce.at("faulted").at("goodput_bps").is_number_unsigned());
  for (const char* key : {"value", "low", "high", "predicted"})
    EXPECT_TRUE(roce.at("retention").at(key).is_number()) << key;
  for (const char* host : {"client", "server"})
    for (const char* key : {"app_user_ns", "app_system_ns", "rxe_ns", "softirq_ns"})
      EXPECT_TRUE(roce.at("cpu").at(host).at(key).is_number_unsigned()) << host << key;
  for (const char* key : {"requested_ppm", "applied_ppm", "observed_ppm", "packets", "dropped"})
    EXPECT_TRUE(json.at("faults").at(0).at(key).is_number_unsigned()) << key;
  for (const char* key : {"text", "verdict", "value"})
    EXPECT_TRUE(json.at("expectations").at(0).contains(key)) << key;
}

TEST(Analyse, AResultSurvivesJson)
{
  const Result result = analysed([](record::Record&) {});
  const Json json(result);
  EXPECT_EQ(Json(json.get<Result>()).dump(), json.dump());
}

TEST(Analyse, AFailedExpectationFailsTheRun)
{
  const Result result =
      analysed([](record::Record& r) { r.lab.expect[0].text = "retention(roce) > 0.90"; });
  EXPECT_EQ(result.verdict, Verdict::fail);
  EXPECT_EQ(exit_status(result, false), Exit::expectation);
  EXPECT_EQ(result.expectations[0].verdict, Verdict::fail);
  EXPECT_THAT(result.expectations[0].reason, HasSubstr("0.9"));
  EXPECT_EQ(result.expectations[1].verdict, Verdict::pass);
}

TEST(Analyse, AnIntervalAstrideIsInconclusive)
{
  const Result result =
      analysed([](record::Record& r) { r.lab.expect[0].text = "retention(roce) < 0.271"; });
  EXPECT_EQ(result.verdict, Verdict::inconclusive);
  EXPECT_EQ(exit_status(result, false), Exit::ok);
  EXPECT_EQ(exit_status(result, true), Exit::inconclusive);
}

TEST(Analyse, EveryFunctionOfTheLanguageHasAFigure)
{
  const Result result = analysed([](record::Record& r) {
    r.lab.expect.clear();
    for (const char* text :
         {"goodput(tcp) >= 900mbit", "goodput(tcp, baseline) >= 930mbit",
          "latency(roce, p99) > 500us", "cpu(roce, server) > 0.3",
          "cpu(roce, server, rxe) <= 0.151", "cpu_per_gib(tcp, client) > 1s",
          "counter(client, rcvd_seq_err) == 42", "counter(client, rcvd_seq_err, roce) == 21",
          "counter(server, rx_packets) == 12000", "observed(loss) <= 2%", "corrupt(roce) == 0",
          "completions(roce, IBV_WC_RETRY_EXC_ERR) == 0",
          "completions(roce, IBV_WC_SUCCESS) > 100"})
      r.lab.expect.push_back({text, 1, 1});
  });
  for (const ExpectationResult& e : result.expectations)
    EXPECT_EQ(e.verdict, Verdict::pass) << e.text << ": " << e.reason;
}

TEST(Analyse, SettingUpIsTheMeanOverAllCells)
{
  const Result result = analysed([](record::Record& r) {
    std::uint64_t ns = 1'000;
    for (record::Cell& cell : r.cells)
      for (record::Flow& flow : cell.flows)
        if (flow.traffic == "roce") flow.setup_ns = {{"rts", ns += 1'000}, {"qp", 5'000}};
    r.lab.expect.clear();
    for (const char* text :
         {"setup(roce, qp) == 5us", "setup(roce, rts) > 1us", "setup(roce, exchange) < 1s"})
      r.lab.expect.push_back({text, 1, 1});
  });
  for (const TrafficResult& t : result.traffic) {
    EXPECT_EQ(t.setup_ns.contains("rts"), t.name == "roce");
    if (t.name != "roce") continue;
    EXPECT_EQ(t.setup_ns.at("qp"), 5'000U);
    // 2 us, 3 us, ... for each cell.
    const auto cells = t.baseline->repeats_bps.size() + t.faulted->repeats_bps.size();
    EXPECT_EQ(t.setup_ns.at("rts"), 2'000 + (cells - 1) * 500);
  }
  ASSERT_EQ(result.expectations.size(), 3U);
  EXPECT_EQ(result.expectations[0].verdict, Verdict::pass);
  EXPECT_EQ(result.expectations[1].verdict, Verdict::pass);
  EXPECT_EQ(result.expectations[2].verdict, Verdict::invalid);
  EXPECT_EQ(result.expectations[2].reason, "roce was not timed for step exchange");
}

TEST(Analyse, AFigureThatDoesNotExistIsNoPass)
{
  const Result result = analysed([](record::Record& r) {
    r.lab.expect = {{"counter(client, out_of_seq_request) == 0", 1, 1}};
  });
  EXPECT_EQ(result.expectations[0].verdict, Verdict::invalid);
  EXPECT_EQ(result.verdict, Verdict::invalid);
  EXPECT_FALSE(result.expectations[0].value);
}

TEST(Analyse, OneRepeatHasNoIntervalAndIsJudgedByItsValue)
{
  const Result result = analysed([](record::Record& r) {
    r.lab.measure.repeat = 1;
    r.cells.resize(4);
  });
  EXPECT_EQ(result.verdict, Verdict::pass);
  EXPECT_FALSE(result.traffic[0].retention->low);
  EXPECT_FALSE(result.traffic[0].baseline->low_bps);
  EXPECT_THAT(result.notes, Contains(HasSubstr("One repeat")));
}

TEST(Analyse, ALabWithoutFaultsHasNoRetention)
{
  const Result result = analysed([](record::Record& r) {
    r.lab.faults.clear();
    r.lab.expect = {{"goodput(roce) > 900mbit", 1, 1}};
    std::erase_if(r.cells, [](const record::Cell& c) { return c.condition == "faulted"; });
  });
  EXPECT_EQ(result.verdict, Verdict::pass);
  EXPECT_FALSE(result.traffic[0].faulted);
  EXPECT_FALSE(result.traffic[0].retention);
  EXPECT_EQ(result.traffic[0].cpu.size(), 2U);
}

TEST(Analyse, NothingDeliveredUnderAFaultIsARetentionOfZero)
{
  const Result result = analysed([](record::Record& r) {
    for (record::Cell& c : r.cells)
      if (c.id.starts_with("roce/faulted")) c.flows[0].bytes = 0;
  });
  EXPECT_EQ(result.verdict, Verdict::pass);
  EXPECT_EQ(result.traffic[0].retention->value, 0);
  EXPECT_FALSE(result.traffic[0].cpu.at("client").seconds_per_gib);
}

TEST(Proof, AMissingOrDoubleCell)
{
  expect_invalid([](record::Record& r) { r.cells.pop_back(); },
                 "tcp, faulted, repeat 3: not measured");
  expect_invalid([](record::Record& r) { r.cells.push_back(r.cells.back()); }, "more than once");
  expect_invalid([](record::Record& r) { r.cells.clear(); }, "not measured");
}

TEST(Proof, ACellsOwnProblem)
{
  expect_invalid([](record::Record& r) { r.cells[0].problems = {"root qdisc is not noqueue"}; },
                 "roce/baseline/0: root qdisc");
}

TEST(Proof, TrafficThatBypassedTheFabric)
{
  expect_invalid([](record::Record& r) { to_server(r, "roce/baseline/0").packets = 17; },
                 "bypassed the fabric");
  expect_invalid([](record::Record& r) { to_server(r, "tcp/faulted/1").bytes = 1000; },
                 "bypassed the fabric");
  expect_invalid(
      [](record::Record& r) {
        for (record::Cell& c : r.cells) c.impairments.clear(), c.counters.clear();
      },
      "no proof that they crossed");
}

/// A program may send either way and in packets of any size; what it says must fit what passed.
TEST(Proof, AProgramsFigureFitsWhatCrossed)
{
  const auto program = [](record::Record& r) {
    r.lab.traffic[1].kind = lab::TrafficKind::command;
    r.lab.traffic[1].command.figure = "(.*)";
    record::Cell& c = test::cell_of(r, "tcp/baseline/0");
    c.flows[0].path_mtu = 0;
    for (record::Impairment& i : c.impairments) i.packets = i.host == "client" ? 5000 : 10;
    std::swap(c.impairments[0].bytes, c.impairments[1].bytes);
    c.impairments[1].bytes = 100;
  };
  record::Record pulled = test::loss_record();
  program(pulled);
  EXPECT_EQ(analyse(pulled).verdict, Verdict::pass);
  expect_invalid(
      [&](record::Record& r) {
        program(r);
        record::Cell& c = test::cell_of(r, "tcp/baseline/0");
        c.flows[0].bytes /= 20;
        c.flows[0].window_ns /= 20;
      },
      "in a tenth of its run");
}

/// A program that tells a time or a count has that figure, and neither goodput nor retention.
TEST(Figure, OfAProgramThatTellsATime)
{
  record::Record record = test::loss_record();
  test::make_program(record, "us", 12'000, 30'000);
  record.lab.expect = {{"figure(tcp, baseline) < 13us", 1, 1},
                       {"figure(tcp) > 2 * figure(tcp, baseline)", 2, 1}};
  const Result result = analyse(record);
  EXPECT_THAT(result.problems, IsEmpty());
  EXPECT_EQ(result.verdict, Verdict::pass);
  const TrafficResult& t = result.traffic[1];
  EXPECT_FALSE(t.baseline);
  EXPECT_FALSE(t.retention);
  EXPECT_FALSE(t.limit);
  ASSERT_TRUE(t.figure && t.figure->baseline && t.figure->faulted);
  EXPECT_EQ(t.figure->unit, "ns");
  EXPECT_DOUBLE_EQ(t.figure->baseline->value, 12'001);
  EXPECT_EQ(t.figure->faulted->repeats, (std::vector<std::uint64_t>{30'000, 30'001, 30'002}));
  EXPECT_EQ(result.expectations[0].measured, "12 us");
}

TEST(Figure, OfAProgramThatCounts)
{
  record::Record record = test::loss_record();
  test::make_program(record, "count", 20, 0);
  for (record::Cell& c : record.cells)
    if (c.flows[0].figure) *c.flows[0].figure -= c.repeat;
  record.lab.expect = {{"figure(tcp, baseline) == 20", 1, 1}, {"figure(tcp) == 0", 2, 1}};
  const Result result = analyse(record);
  EXPECT_THAT(result.problems, IsEmpty());
  EXPECT_EQ(result.verdict, Verdict::pass) << "none under a fault is a count";
  EXPECT_EQ(result.traffic[1].figure->unit, "count");
}

TEST(Figure, HasToBeThereAndToHaveCrossed)
{
  const auto program = [](record::Record& r) { test::make_program(r, "count", 20, 20); };
  expect_invalid(
      [&](record::Record& r) {
        program(r);
        test::cell_of(r, "tcp/baseline/0").flows[0].figure = 0;
      },
      "zero without a fault", Exit::traffic);
  expect_invalid(
      [&](record::Record& r) {
        program(r);
        record::Flow& flow = test::cell_of(r, "tcp/faulted/1").flows[0];
        flow.figure.reset();
        flow.outcome = "printed no figure";
        flow.failed_step = "figure";
      },
      "printed no figure", Exit::traffic);
  expect_invalid(
      [&](record::Record& r) {
        program(r);
        to_server(r, "tcp/baseline/0").packets = 0;
      },
      "bypassed the fabric");
}

TEST(Proof, QueueOverflowUnlessTheQueueIsSmallOnPurpose)
{
  const auto overflow = [](record::Record& r) { to_server(r, "roce/faulted/0").overflowed = 3; };
  expect_invalid(overflow, "overflowed 3 times");
  const Result result = analysed([&](record::Record& r) {
    overflow(r);
    r.lab.topology.hosts[1].down.queue_packets = 10;
  });
  EXPECT_THAT(result.problems, IsEmpty());
}

TEST(Proof, LossInABaseline)
{
  expect_invalid([](record::Record& r) { to_server(r, "roce/baseline/1").dropped = 1; },
                 "dropped without a fault");
}

TEST(Proof, Offloads)
{
  expect_invalid([](record::Record& r) { r.cells[3].offloads["client eth0"] = "tso gso"; },
                 "tso gso");
  expect_invalid([](record::Record& r) { r.cells[3].offloads.clear(); }, "read back");
  const Result wanted = analysed([](record::Record& r) {
    r.lab.topology.offloads = true;
    r.cells[3].offloads["client eth0"] = "tso gso";
  });
  EXPECT_THAT(wanted.problems, IsEmpty());
}

TEST(Proof, Payload)
{
  expect_invalid([](record::Record& r) { r.cells[1].flows[0].corrupt_messages = 2; },
                 "wrong payload", Exit::traffic);
  expect_invalid([](record::Record& r) { r.cells[1].flows[0].checked_messages = 0; },
                 "no payload of roce was checked");
}

TEST(Proof, KernelSplat)
{
  expect_invalid(
      [](record::Record& r) {
        r.cells[1].kernel_log = {"WARNING: CPU: 0 PID: 9 at rxe_comp.c:300"};
      },
      "kernel splat", Exit::guest);
  const Result harmless =
      analysed([](record::Record& r) { r.cells[1].kernel_log = {"clocksource: unstable"}; });
  EXPECT_THAT(harmless.problems, IsEmpty());
  EXPECT_THAT(harmless.notes, Contains(HasSubstr("1 warnings")));
}

TEST(Proof, ABaselineThatBroke)
{
  expect_invalid(
      [](record::Record& r) {
        r.cells[0].flows[0].outcome = "send completion 3: IBV_WC_RETRY_EXC_ERR";
      },
      "broke without a fault", Exit::traffic);
  expect_invalid([](record::Record& r) { r.cells[0].flows[0].bytes = 0; }, "delivered nothing",
                 Exit::traffic);
}

TEST(Proof, AFaultedFlowThatBrokeIsAResultOnlyIfForeseen)
{
  const auto broken = [](record::Record& r) {
    record::Flow& flow = test::cell_of(r, "roce/faulted/1").flows[0];
    flow.outcome = "send completion 3: IBV_WC_RETRY_EXC_ERR";
    flow.completions["IBV_WC_RETRY_EXC_ERR"] = 1;
  };
  expect_invalid(broken, "roce broke under the fault", Exit::traffic);
  const Result result = analysed([&](record::Record& r) {
    broken(r);
    r.lab.expect = {{"completions(roce, IBV_WC_RETRY_EXC_ERR) == 1", 1, 1}};
  });
  EXPECT_EQ(result.verdict, Verdict::pass);
  EXPECT_THAT(result.traffic[0].broke, Contains(HasSubstr("RETRY_EXC")));
}

TEST(Endings, AnExpectedEndIsNoBreak)
{
  const auto dies = [](record::Record& r, const char* ends) {
    r.lab.traffic[0].ends = ends;
    r.lab.expect = {{"messages(roce) > 0", 1, 1}};
    for (record::Cell& cell : r.cells) {
      record::Flow& flow = cell.flows[0];
      if (flow.traffic != "roce" || cell.condition != "faulted") continue;
      flow.outcome = "write completion 3: IBV_WC_RETRY_EXC_ERR";
      flow.failed_step = "completion";
      flow.failure = "IBV_WC_RETRY_EXC_ERR";
    }
  };
  const Result result = analysed([&](record::Record& r) { dies(r, "IBV_WC_RETRY_EXC_ERR"); });
  EXPECT_EQ(result.verdict, Verdict::pass);
  EXPECT_THAT(result.traffic[0].broke, IsEmpty());
  EXPECT_THAT(result.traffic[0].ended, ElementsAre("write completion 3: IBV_WC_RETRY_EXC_ERR"));
  EXPECT_EQ(analysed([&](record::Record& r) { dies(r, "completion"); }).verdict, Verdict::pass);
  expect_invalid([&](record::Record& r) { dies(r, "post"); },
                 "roce broke under the fault: it was to end with post, and ended with write "
                 "completion 3: IBV_WC_RETRY_EXC_ERR",
                 Exit::traffic);
  expect_invalid([](record::Record& r) { r.lab.traffic[0].ends = "post"; },
                 "it was to end with post, and ended with ok", Exit::traffic);
}

TEST(Endings, AMistakeIsMadeInEveryCondition)
{
  const auto refused = [](record::Record& r) {
    r.lab.traffic[0].verbs.mistake = lab::Mistake::qp_init;
    r.lab.traffic[0].ends = "post";
    r.lab.expect = {{"messages(roce, baseline) == 0", 1, 1}};
    for (record::Cell& cell : r.cells)
      if (cell.flows[0].traffic == "roce") {
        record::Flow nothing;
        nothing.traffic = "roce";
        nothing.window_ns = cell.window_ns;
        nothing.outcome = "post a write: Invalid argument";
        nothing.failed_step = "post";
        nothing.failure = "EINVAL";
        cell.flows[0] = nothing;
      }
  };
  const Result result = analysed(refused);
  EXPECT_EQ(result.verdict, Verdict::pass) << testing::PrintToString(result.problems);
  EXPECT_FALSE(result.traffic[0].retention);
  EXPECT_FALSE(result.traffic[0].limit);
  expect_invalid(
      [&](record::Record& r) {
        refused(r);
        r.lab.traffic[0].ends = "ok";
      },
      "broke without a fault", Exit::traffic);
}

TEST(Endings, ATrafficOfSoManyMessagesMayBeThroughBeforeTheWindow)
{
  const Result result = analysed([](record::Record& r) {
    r.lab.traffic[0].verbs.messages = 10;
    r.lab.expect.clear();
    for (record::Cell& cell : r.cells)
      if (cell.flows[0].traffic == "roce") cell.flows[0].bytes = cell.flows[0].messages = 0;
  });
  EXPECT_THAT(result.problems, IsEmpty());
  EXPECT_FALSE(result.traffic[0].retention);
}

TEST(Faults, ReadBackDifferent)
{
  expect_invalid([](record::Record& r) { to_server(r, "tcp/faulted/2").applied.loss_ppm = 5'000; },
                 "5000 ppm for 10000 ppm");
  expect_invalid(
      [](record::Record& r) { to_server(r, "tcp/faulted/2").applied_as_requested = false; },
      "reads back something else");
  expect_invalid([](record::Record& r) { to_server(r, "tcp/faulted/2").requested.loss_ppm = 0; },
                 "was not applied in cell tcp/faulted/2");
}

TEST(Faults, ObservedFarFromRequested)
{
  expect_invalid(
      [](record::Record& r) {
        for (record::Cell& c : r.cells) c.impairments[1].dropped /= 2;
      },
      "more than chance explains");
}

TEST(Faults, ObservedALittleOffIsNotedOnly)
{
  // About three standard deviations of draws that two cells share: once in 370 runs.
  const Result result = analysed([](record::Record& r) {
    for (record::Cell& c : r.cells) {
      if (c.condition != "faulted") continue;
      record::Impairment& i = c.impairments[1];
      i.dropped = i.packets / 100 + i.packets / 1'250;
    }
  });
  EXPECT_THAT(result.problems, IsEmpty());
  EXPECT_FALSE(result.faults[0].consistent);
  EXPECT_THAT(result.notes, Contains(HasSubstr("once in a hundred runs")));
}

TEST(Faults, BurstsWidenTheInterval)
{
  lab::Fault fault;
  fault.kind = lab::FaultKind::burst_loss;
  fault.p_ppm = 1'000;
  fault.r_ppm = 100'000;
  // Bursts of 10 lost packets on average: (2 − p − r)/(p + r) = 18.8 times the variance.
  EXPECT_NEAR(burst_variance_inflation(fault), (2 - 0.101) / 0.101, 1e-9);
  EXPECT_EQ(burst_mean_ppm(1'000, 100'000, 1'000'000, 0), 9'901U);
  EXPECT_EQ(burst_mean_ppm(0, 0, 1'000'000, 7), 7U);
  fault.bad_loss_ppm = fault.good_loss_ppm = 5'000; // no memory in the losses
  EXPECT_NEAR(burst_variance_inflation(fault), 1, 1e-12);
}

TEST(Faults, KindsWithoutAShareAreComparedByReadBackOnly)
{
  const Result result = analysed([](record::Record& r) {
    lab::Fault& fault = r.lab.faults[0];
    fault.kind = lab::FaultKind::delay;
    fault.rate_ppm = 0;
    fault.delay_ns = 1'000'000;
    for (record::Cell& c : r.cells) {
      record::Impairment& i = c.impairments[1];
      i.dropped = 0;
      i.requested.loss_ppm = i.applied.loss_ppm = 0;
      if (c.condition == "faulted") i.requested.delay_ns = i.applied.delay_ns = 1'020'000;
    }
  });
  EXPECT_THAT(result.problems, IsEmpty());
  EXPECT_EQ(result.faults[0].setting, "+1ms");
  EXPECT_FALSE(result.faults[0].requested_ppm);
  EXPECT_FALSE(result.traffic[0].retention->predicted);
}

TEST(FaultFindings, CellsOfOneSeedShareTheirDraws)
{
  EXPECT_DOUBLE_EQ(shared_draws_inflation({}), 1);
  EXPECT_DOUBLE_EQ(shared_draws_inflation({{1, {100}}, {2, {50}}}), 1);
  // The same hundred draws, twice: half as many as it seems.
  EXPECT_DOUBLE_EQ(shared_draws_inflation({{1, {100, 100}}}), 2);
  // 100 draws met by three cells, 100 by two, 800 by one.
  EXPECT_DOUBLE_EQ(shared_draws_inflation({{1, {1000, 100, 200}}}), (900.0 + 400 + 800) / 1300);
}

TEST(Conclusion, HasItsFiguresAndIsSilentWithoutThem)
{
  const auto with = [](record::Record& r) {
    r.lab.conclusion = {"RoCE kept {retention(roce) in %}.", "Nobody knows {setup(roce, cm)}."};
  };
  EXPECT_THAT(analysed(with).conclusion, ElementsAre("RoCE kept 27.1 %."));
  const Result broken = analysed([&](record::Record& r) {
    with(r);
    r.cells[0].flows.clear();
  });
  EXPECT_THAT(broken.conclusion, IsEmpty()) << "an invalid run concludes nothing";
}

} // namespace
} // namespace rdmalab::analysis
