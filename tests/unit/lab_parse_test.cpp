#include "base/file.h"
#include "base/json.h"
#include "lab/parse.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

using namespace rdmalab;
using namespace rdmalab::lab;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

const fs::path lab_folder = fs::path(RDMALAB_SOURCE_DIR) / "labs";

const std::string minimal = R"(version: 1
name: minimal
topology: {hosts: [a, b]}
traffic:
  - {name: rdma, kind: verbs, from: a, to: b}
  - {name: tcp, kind: tcp, from: b, to: a}
)";

Lab good(const std::string& text)
{
  const Parsed parsed = parse_all(text, "test.yaml");
  EXPECT_TRUE(parsed.lab) << (parsed.diagnostics.empty() ? ""
                                                         : parsed.diagnostics[0].where() + ": " +
                                                               parsed.diagnostics[0].message);
  return parsed.lab.value_or(Lab{});
}

std::vector<fs::path> shipped()
{
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(lab_folder))
    if (entry.path().extension() == ".yaml") found.push_back(entry.path());
  return found;
}

} // namespace

TEST(LabParse, DefaultsAreFilledIn)
{
  const Lab lab = good(minimal);
  EXPECT_EQ(lab.seed, 1U);
  EXPECT_EQ(lab.timeout_ns, 120'000'000'000U);
  EXPECT_EQ(lab.topology.mtu, 1500U);
  EXPECT_FALSE(lab.topology.offloads);
  EXPECT_EQ(lab.topology.hosts.at(0).down.rate_bps, 0U);
  EXPECT_FALSE(lab.topology.hosts.at(0).up);
  EXPECT_EQ(lab.traffic.at(0).verbs.depth, 16U);
  EXPECT_EQ(lab.traffic.at(0).message_bytes, 65536U);
  EXPECT_EQ(lab.traffic.at(1).kind, TrafficKind::tcp);
  EXPECT_EQ(lab.groups, (std::vector<std::vector<std::string>>{{"rdma"}, {"tcp"}}));
  EXPECT_EQ(lab.measure.repeat, 3U);
}

TEST(LabParse, WhatOneCompletionStandsFor)
{
  Verbs verbs;
  verbs.depth = 64;
  EXPECT_EQ(signal_every_of(verbs), 1U) << "a WRITE's completion is its delivery";
  verbs.op = VerbsOp::send;
  EXPECT_EQ(signal_every_of(verbs), 16U);
  verbs.depth = 2;
  EXPECT_EQ(signal_every_of(verbs), 1U);
  verbs.signal_every = 2;
  EXPECT_EQ(signal_every_of(verbs), 2U);
}

TEST(LabParse, EveryFieldArrives)
{
  const Lab lab = good(R"(
version: 1
name: full
hypothesis: H
description: D
questions: [Q1, Q2]
seed: 42
timeout: 30s
topology:
  hosts: [a, {name: b, up: {rate: 1mbit}}]
  link: {rate: 1gbit, delay: 20us, queue: 77, mtu: 4200}
  links: {a: {down: {rate: 5mbit}, up: {delay: 1ms, queue: 9}}}
  offloads: on
traffic:
  - {name: r, kind: verbs, from: a, to: b, op: read, message: 1KiB, depth: 3, signal_every: 2, qps: 2, path_mtu: 4096, timeout: 10,
     retry_count: 5, rnr_retry: 4, min_rnr_timer: 1, messages: 8, mistake: wrong-rkey}
  - {name: t, kind: tcp, from: b, to: a, message: 2KiB, streams: 4, congestion: reno, nodelay: on, depth: 5,
     zerocopy: on}
run: together
faults:
  - {name: f1, where: {from: a, to: b}, kind: loss, rate: 0.01%, correlation: 25%}
  - {name: f2, where: {to: a}, kind: burst-loss, p: 1%, r: 20%, bad_loss: 90%, good_loss: 0.5%}
  - {name: f3, where: {from: a}, kind: delay, delay: 3ms}
  - {name: f4, where: {from: a}, kind: jitter, jitter: 2ms, reorder: on}
  - {name: f5, where: {from: b}, kind: rate, rate: 10mbit}
  - {name: f6, where: {to: b}, kind: duplicate, rate: 2%, correlation: 1%}
  - {name: f7, where: {to: b}, kind: reorder, rate: 3%, delay: 1ms, gap: 5}
  - {name: f8, where: {to: b}, kind: corrupt, rate: 4%}
measure: {warmup: 5ms, duration: 6ms, repeat: 7}
expect: [retention(r) < 50%]
)");
  EXPECT_EQ(lab.hypothesis, "H");
  EXPECT_EQ(lab.description, "D");
  EXPECT_EQ(lab.questions, (std::vector<std::string>{"Q1", "Q2"}));
  EXPECT_EQ(lab.seed, 42U);
  EXPECT_EQ(lab.timeout_ns, 30'000'000'000U);
  const Host& a = lab.topology.hosts.at(0);
  const Host& b = lab.topology.hosts.at(1);
  EXPECT_EQ(a.down.rate_bps, 5'000'000U) << "the override";
  EXPECT_EQ(a.down.delay_ns, 20'000U) << "the default link's where the override is silent";
  EXPECT_EQ(a.down.queue_packets, 77U);
  ASSERT_TRUE(a.up);
  EXPECT_EQ(a.up->delay_ns, 1'000'000U);
  EXPECT_EQ(a.up->rate_bps, 0U) << "up does not inherit the default link";
  EXPECT_EQ(a.up->queue_packets, 9U);
  EXPECT_EQ(b.down.rate_bps, 1'000'000'000U);
  ASSERT_TRUE(b.up);
  EXPECT_EQ(b.up->rate_bps, 1'000'000U);
  EXPECT_EQ(lab.topology.mtu, 4200U);
  EXPECT_TRUE(lab.topology.offloads);
  const Traffic& r = lab.traffic.at(0);
  EXPECT_EQ(r.message_bytes, 1024U);
  EXPECT_EQ(
      Json(r.verbs).dump(),
      R"({"op":"read","transport":"rc","connect":"tcp","inline_data":false,"srq":false,"depth":3,"signal_every":2,"qps":2,)"
      R"("path_mtu":4096,"timeout":10,"retry_count":5,"rnr_retry":4,"min_rnr_timer":1,)"
      R"("messages":8,"receives":null,"replenish":"at-once","replenish_ns":0,)"
      R"("mistake":"wrong-rkey"})");
  EXPECT_EQ(Json(lab.traffic.at(1).tcp).dump(),
            R"({"streams":4,"congestion":"reno","nodelay":true,"depth":5,"zerocopy":true})");
  EXPECT_EQ(lab.groups, (std::vector<std::vector<std::string>>{{"r", "t"}}));
  const auto& f = lab.faults;
  ASSERT_EQ(f.size(), 8U);
  EXPECT_EQ(f[0].from, "a");
  EXPECT_EQ(f[0].to, "b");
  EXPECT_EQ(f[0].rate_ppm, 100U);
  EXPECT_EQ(f[0].correlation_ppm, 250'000U);
  EXPECT_EQ(f[1].from, std::nullopt);
  EXPECT_EQ(f[1].p_ppm, 10'000U);
  EXPECT_EQ(f[1].r_ppm, 200'000U);
  EXPECT_EQ(f[1].bad_loss_ppm, 900'000U);
  EXPECT_EQ(f[1].good_loss_ppm, 5'000U);
  EXPECT_EQ(f[2].delay_ns, 3'000'000U);
  EXPECT_EQ(f[2].to, std::nullopt);
  EXPECT_EQ(f[3].jitter_ns, 2'000'000U);
  EXPECT_TRUE(f[3].reorder);
  EXPECT_EQ(f[4].rate_bps, 10'000'000U);
  EXPECT_EQ(f[5].kind, FaultKind::duplicate);
  EXPECT_EQ(f[5].rate_ppm, 20'000U);
  EXPECT_EQ(f[6].kind, FaultKind::reorder);
  EXPECT_EQ(f[6].gap, 5U);
  EXPECT_EQ(f[6].delay_ns, 1'000'000U);
  EXPECT_EQ(f[7].kind, FaultKind::corrupt);
  EXPECT_EQ(lab.measure.warmup_ns, 5'000'000U);
  EXPECT_EQ(lab.measure.duration_ns, 6'000'000U);
  EXPECT_EQ(lab.measure.repeat, 7U);
  ASSERT_EQ(lab.expect.size(), 1U);
  EXPECT_EQ(lab.expect[0].text, "retention(r) < 50%");
  EXPECT_EQ(lab.expect[0].line, 30);
  EXPECT_EQ(lab.expect[0].column, 10);
}

TEST(LabParse, AGroupRunsTogether)
{
  EXPECT_EQ(good(minimal + "run: [[tcp, rdma]]\n").groups,
            (std::vector<std::vector<std::string>>{{"tcp", "rdma"}}));
  EXPECT_EQ(good(minimal + "run: apart\n").groups.size(), 2U);
}

TEST(LabParse, AnAliasSavesTyping)
{
  const Lab lab = good(minimal + "questions: [&q same, *q]\n");
  EXPECT_EQ(lab.questions, (std::vector<std::string>{"same", "same"}));
}

TEST(LabParse, JsonGoesRound)
{
  for (const fs::path& path : shipped()) {
    const auto lab = load_file(path);
    ASSERT_TRUE(lab.ok()) << lab.error().message();
    const Json json = *lab;
    const auto back = from_json_value<Lab>(json, "lab");
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(Json(*back).dump(), json.dump()) << path;
  }
}

TEST(LabParse, EveryShippedLabIsGoodAndExplainsItself)
{
  const auto files = shipped();
  ASSERT_GE(files.size(), 8U);
  for (const fs::path& path : files) {
    const Parsed parsed = load_file_all(path);
    for (const Diagnostic& d : parsed.diagnostics) ADD_FAILURE() << d.where() << ": " << d.message;
    ASSERT_TRUE(parsed.lab);
    EXPECT_EQ(parsed.lab->name, path.stem());
    EXPECT_FALSE(parsed.lab->hypothesis.empty()) << path;
    EXPECT_FALSE(parsed.lab->description.empty()) << path;
    EXPECT_FALSE(parsed.lab->questions.empty()) << path;
    EXPECT_FALSE(parsed.lab->expect.empty() && parsed.lab->events.empty()) << path;
  }
}

TEST(LabParse, WhatIsNoLabFileIsOneMessage)
{
  const auto folder = TemporaryFolder::create("lab-parse");
  ASSERT_TRUE(folder.ok());
  const auto refusal = [&](const fs::path& path) {
    const auto lab = load_file(path);
    EXPECT_FALSE(lab.ok());
    if (lab) return std::string();
    EXPECT_EQ(lab.error().exit, Exit::usage);
    return lab.error().message();
  };
  EXPECT_THAT(refusal(folder->path()), HasSubstr("this is a directory"));
  EXPECT_THAT(refusal(folder->path() / "none.yaml"), HasSubstr("there is no such file"));
  const fs::path fifo = folder->path() / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THAT(refusal(fifo), HasSubstr("not a regular file"));
  const auto written = [&](const std::string& text) {
    const fs::path path = folder->path() / "file.yaml";
    EXPECT_TRUE(write_file(path, text).ok());
    return path;
  };
  EXPECT_THAT(refusal(written("")), HasSubstr("the file is empty"));
  EXPECT_THAT(refusal(written("\n  \n# nothing\n")), HasSubstr("the file is empty"));
  EXPECT_THAT(refusal(written(std::string("\x7f"
                                          "ELF\0\1\2",
                                          7))),
              HasSubstr("not a text file"));
  EXPECT_THAT(refusal(written(std::string((1 << 20) + 1, '#'))), HasSubstr("at most 1048576"));
}

TEST(LabParse, AllErrorsComeInTheFilesOrder)
{
  const Parsed parsed =
      parse_all("version: 3\nnmae: x\ntopology: {hosts: [a, a], link: {delay: 3}}\n", "x.yaml");
  ASSERT_FALSE(parsed.lab);
  ASSERT_GE(parsed.diagnostics.size(), 5U);
  for (std::size_t i = 1; i < parsed.diagnostics.size(); ++i)
    EXPECT_LE(parsed.diagnostics[i - 1].line, parsed.diagnostics[i].line);
  const auto first = parse("version: 3\nnmae: x\n", "x.yaml");
  ASSERT_FALSE(first.ok());
  EXPECT_EQ(first.error().where, "x.yaml:1:1");
}

// Damaged files: any answer is right that comes, and comes soon.

TEST(LabFuzz, TruncationsNeitherCrashNorHang)
{
  const std::string text = read_file(lab_folder / "loss-1pct.yaml").value();
  for (std::size_t length = 0; length < text.size(); length += 11) {
    const Parsed parsed = parse_all(text.substr(0, length), "cut.yaml");
    EXPECT_NE(parsed.lab.has_value(), !parsed.diagnostics.empty());
  }
}

TEST(LabFuzz, FlippedBytesNeitherCrashNorHang)
{
  const std::string text = read_file(lab_folder / "three-hosts.yaml").value();
  std::uint64_t state = 1;
  const auto random = [&] {
    return state = state * 6364136223846793005ULL + 1442695040888963407ULL, state >> 33;
  };
  for (int round = 0; round < 400; ++round) {
    std::string damaged = text;
    for (std::uint64_t flips = 1 + random() % 4; flips > 0; --flips)
      damaged[random() % damaged.size()] = static_cast<char>(random() % 256);
    const Parsed parsed = parse_all(damaged, "flipped.yaml");
    EXPECT_NE(parsed.lab.has_value(), !parsed.diagnostics.empty());
  }
}

TEST(LabFuzz, PathologicalTextIsRefusedSoon)
{
  const auto repeated = [](const std::string& part, std::size_t bytes) {
    std::string text;
    while (text.size() + part.size() <= bytes) text += part;
    return text;
  };
  for (const char* part : {"[", "{", "- ", "a: ", "? ", "&a ", "*a ", "\"", "'", "!", "%", "|",
                           "- - ", "{a: ", "a:\n", "\xff", "\xef\xbb\xbf", "---\n", "x,"}) {
    const Parsed parsed = parse_all(repeated(part, 100'000), "long.yaml");
    EXPECT_FALSE(parsed.lab) << part;
    EXPECT_FALSE(parsed.diagnostics.empty()) << part;
  }
}

TEST(Parse, ACountedTrafficWithAMistake)
{
  const Parsed p = parse_all("version: 1\nname: x\ntopology: {hosts: [a, b]}\ntraffic:\n"
                             "  - {name: s, kind: verbs, op: send, from: a, to: b, messages: 7,\n"
                             "     receives: 0, replenish: 5ms, mistake: long-send, ends: post}\n"
                             "  - {name: n, kind: verbs, op: send, from: a, to: b,\n"
                             "     replenish: never}\n"
                             "  - {name: t, kind: tcp, from: a, to: b, ends: ETIMEDOUT}\n",
                             "x.yaml");
  ASSERT_TRUE(p.lab) << p.diagnostics[0].message;
  const Traffic& traffic = p.lab->traffic[0];
  EXPECT_EQ(traffic.verbs.messages, 7U);
  EXPECT_EQ(traffic.verbs.receives, 0U);
  EXPECT_EQ(traffic.verbs.replenish, Replenish::after);
  EXPECT_EQ(traffic.verbs.replenish_ns, 5'000'000U);
  EXPECT_EQ(traffic.verbs.mistake, Mistake::long_send);
  EXPECT_EQ(traffic.ends, "post");
  EXPECT_EQ(p.lab->traffic[1].verbs.replenish, Replenish::never);
  EXPECT_FALSE(p.lab->traffic[1].verbs.receives);
  EXPECT_EQ(p.lab->traffic[2].ends, "ETIMEDOUT");
}
