// A message's path: figures per message, the fit over sizes, and what makes a ledger unfit.
#include "analysis/analyse.h"
#include "analysis/figures.h"
#include "analysis/stages.h"
#include "analysis_fixture.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace rdmalab::analysis {
namespace {

record::PathHost host_of(const std::string& name, std::uint64_t messages, std::uint64_t message)
{
  record::PathHost host;
  host.host = name;
  const std::uint64_t payload = messages * message;
  host.stage_ns = {{"application", 100 * messages},
                   {"syscall", 900 * messages},
                   {"copy", payload / 4},
                   {"stack", payload / 2},
                   {"rxe", 0}};
  host.borders = 5 * messages;
  host.syscalls = {{"sendto", messages}, {"epoll_wait", messages / 2}};
  host.copies_in = 2 * messages;
  host.copied_in = payload;
  host.wakeups = messages / 4;
  return host;
}

/// A TCP traffic for each size, whose cost is 1000 ns and 0.75 ns a byte, by stages in a cell of
/// its own; in the baseline it is a tenth less, and goodput a quarter more.
record::Record sizes(const std::vector<std::uint64_t>& bytes)
{
  record::Record record;
  record.lab = test::loss_lab();
  record.lab.faults.clear();
  record.lab.expect.clear();
  record.lab.measure.path = true;
  record.lab.measure.repeat = 1;
  lab::Traffic traffic = record.lab.traffic.back();
  record.lab.traffic.clear();
  record.lab.groups.clear();
  for (const std::uint64_t size : bytes) {
    traffic.name = "tcp-" + std::to_string(size);
    traffic.message_bytes = size;
    record.lab.traffic.push_back(traffic);
    record.lab.groups.push_back({traffic.name});
    record::Cell cell;
    cell.id = traffic.name + "/path/0";
    cell.traffic = {traffic.name};
    cell.condition = "path";
    cell.window_ns = 1'000'000'000;
    const std::uint64_t messages = 40'000'000 / size;
    record::Flow flow;
    flow.traffic = traffic.name;
    flow.messages = messages;
    flow.bytes = messages * size;
    flow.window_ns = cell.window_ns;
    cell.flows = {flow};
    record::Path path;
    path.hosts = {host_of("client", messages, size)};
    std::uint64_t all = 0;
    for (const auto& [stage, ns] : path.hosts[0].stage_ns) all += ns;
    path.hosts[0].task_ns = all + 2'000'000;
    path.hosts[0].stolen_ns = 2'000'000;
    path.wire = {{"server", 10, 14'000, 9'000'000, 32'500},
                 {"server", 20, 1400, 9'000'000, 20'000}};
    cell.cpu = {{"client", all / 2, all - all / 2, 0, 0}};
    record::Cell plain = cell;
    plain.id = traffic.name + "/baseline/0";
    plain.condition = "baseline";
    plain.window_ns = cell.window_ns / 5 * 4;
    plain.flows[0].window_ns = plain.window_ns;
    plain.cpu = {{"client", all / 10 * 4, all / 10 * 4, all / 10, 0}};
    cell.path = path;
    record.cells.push_back(cell);
    record.cells.push_back(plain);
  }
  return record;
}

TEST(Stages, FiguresAreForEachMessage)
{
  const auto report = path_report(sizes({4096}));
  ASSERT_TRUE(report);
  ASSERT_EQ(report->traffic.size(), 1U);
  const TrafficPath& path = report->traffic[0];
  EXPECT_EQ(path.transport, "tcp");
  ASSERT_EQ(path.hosts.size(), 1U);
  const HostPath& host = path.hosts[0];
  EXPECT_NEAR(host.traced_ns, 1000 + 0.75 * 4096, 5);
  EXPECT_NEAR(host.cpu_ns, 0.9 * host.traced_ns, 5)
      << "the baseline's, where no stage is told apart";
  EXPECT_NEAR(path.goodput_bps, 1.25 * path.traced_goodput_bps, 1e6);
  EXPECT_NEAR(host.syscalls_all, 1.5, 0.001);
  EXPECT_NEAR(host.syscalls.at("sendto"), 1, 0.001);
  EXPECT_NEAR(host.copies, 2, 0.001);
  EXPECT_NEAR(host.copied, 1, 0.001);
  EXPECT_NEAR(host.wakeups, 0.25, 0.001);
  EXPECT_NEAR(host.stage_ns.at("copy"), 1024, 1);
  EXPECT_NEAR(host.stage_percent.at("copy"), 100 * 1024 / 4072.0, 0.1);
  EXPECT_EQ(host.stage_percent.at("rxe"), 0) << "nothing passed it";
  EXPECT_FALSE(host.stage_percent.contains("checksum")) << "what was not seen is not zero";
  ASSERT_TRUE(host.against_scheduler);
  EXPECT_NEAR(*host.against_scheduler, 1, 1e-6);
}

TEST(Stages, TheWireIsTheFastestFrameThatCarriedPayload)
{
  const auto report = path_report(sizes({4096}));
  ASSERT_TRUE(report && report->traffic[0].wire);
  const WireTime& wire = *report->traffic[0].wire;
  EXPECT_EQ(wire.frames, 10U);
  EXPECT_EQ(wire.frame_bytes, 1400);
  EXPECT_EQ(wire.min_ns, 32'500);
  EXPECT_EQ(wire.mean_ns, 900'000);
  EXPECT_NEAR(wire.expected_ns, 20'000 + 11'200, 1) << "1400 B at 1 Gb/s, and the delay";

  record::Record queued = sizes({4096});
  queued.cells[0].path->wire[0].min_ns = 132'500;
  EXPECT_FALSE(path_report(queued)->traffic[0].wire) << "no frame found the way free";
}

TEST(Stages, TheFitTellsTheCostOfAMessageFromThatOfAByte)
{
  const auto report = path_report(sizes({1024, 4096, 16384, 65536}));
  ASSERT_TRUE(report);
  ASSERT_EQ(report->fits.size(), 1U);
  const CostFit& fit = report->fits[0];
  EXPECT_EQ(fit.traffics.size(), 4U);
  EXPECT_NEAR(fit.message_ns, 900, 10) << "of the baseline's cost";
  EXPECT_NEAR(fit.byte_ns, 0.675, 0.01);
  EXPECT_GT(fit.r2, 0.9999);
  EXPECT_TRUE(path_report(sizes({1024, 4096}))->fits.empty()) << "two sizes prove no line";
}

TEST(Stages, ALineWithNoiseHasAnError)
{
  const auto line = fit_line({1, 2, 3, 4}, {11, 19, 31, 39});
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->b, 9.7, 0.5);
  EXPECT_GT(line->b_error, 0.1);
  EXPECT_LT(line->r2, 1);
  EXPECT_FALSE(fit_line({1, 1, 2}, {1, 2, 3})) << "two places only";
  EXPECT_FALSE(fit_line({1, 2, 3}, {1, 0, 3}));
}

TEST(Stages, ABookThatDoesNotAddUpProvesNothing)
{
  record::Record record = sizes({4096});
  EXPECT_TRUE(judge_paths(record).empty());

  record.cells[0].path->hosts[0].stage_ns["copy"] *= 2;
  auto problems = judge_paths(record);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems[0].text.find("add up"), std::string::npos) << problems[0].text;

  record = sizes({4096});
  record.cells[0].path->hosts[0].task_ns *= 2;
  problems = judge_paths(record);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems[0].text.find("scheduler"), std::string::npos) << problems[0].text;

  record = sizes({4096});
  record.cells[0].path->unbalanced = 10'000;
  EXPECT_EQ(judge_paths(record).size(), 1U);
}

TEST(Stages, WithoutItsCellTheLabIsNotMeasured)
{
  record::Record record = sizes({4096});
  const auto says = [&](const std::string& text) {
    const Result result = analyse(record);
    return std::any_of(result.problems.begin(), result.problems.end(), [&](const auto& problem) {
      return problem.find(text) != std::string::npos;
    });
  };
  EXPECT_FALSE(says("not measured"));
  record.cells.erase(record.cells.begin());
  EXPECT_TRUE(says("tcp-4096, path, repeat 1: not measured"));
}

TEST(Stages, WithoutALedgerThereIsNoPath)
{
  record::Record record = sizes({4096});
  record.cells[0].path.reset();
  EXPECT_FALSE(path_report(record));
  EXPECT_FALSE(analyse(record).path);
}

TEST(Stages, ExpectationsCanAskForIt)
{
  record::Record record = sizes({1024, 4096, 16384, 65536});
  const std::vector<std::string> all{
      "syscalls(tcp-4096, client) > 1.49",    "copies(tcp-4096, client) >= 1.99",
      "copied(tcp-4096, client) < 101%",      "wakeups(tcp-4096, client) < 0.3",
      "stage(tcp-65536, client, copy) > 30%", "per_message(tcp-4096, client) < 1.1us",
      "per_byte(tcp-4096, client) < 1ns",     "wire(tcp-4096) < 33us"};
  Result result;
  result.path = path_report(record);
  for (const std::string& text : all) {
    const auto parsed = lab::parse_expression(text);
    ASSERT_TRUE(parsed.comparison) << text;
    EXPECT_TRUE(lab::check_expression(*parsed.comparison, record.lab).empty()) << text;
    const auto judged = lab::judge(*parsed.comparison, figures_of(record, result));
    ASSERT_TRUE(judged.ok()) << text << ": " << judged.error().message();
    EXPECT_EQ(judged->judgement, lab::Judgement::pass) << text << ": " << judged->left.value;
  }
  record.lab.measure.path = false;
  const auto without = lab::parse_expression(all[0]);
  EXPECT_FALSE(lab::check_expression(*without.comparison, record.lab).empty()) << "path is off";
}

} // namespace
} // namespace rdmalab::analysis
