/// The command line as a person meets it: what goes to stdout, what to stderr, which exit status.
#include "analysis/result.h"
#include "base/file.h"
#include "base/json.h"
#include "base/version.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "record/record.h"

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rdmalab::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

struct Ran {
  int exit = -1;
  std::string out;
  std::string err;
};

Ran run_words(std::vector<std::string> words)
{
  words.insert(words.begin(), "rdmalab");
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  argv.push_back(nullptr);
  std::ostringstream out;
  std::ostringstream err;
  const int exit = run(static_cast<int>(words.size()), argv.data(), out, err);
  return {exit, out.str(), err.str()};
}

/// Exit status of a program; -1 if it could not be started or did not exit.
int spawn_and_wait(std::vector<std::string> words)
{
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = -1;
  int status = 0;
  if (posix_spawnp(&pid, argv[0], nullptr, nullptr, argv.data(), environ) != 0 ||
      waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
    return -1;
  return WEXITSTATUS(status);
}

/// stdout as JSON; fails if it isn't one document.
Json document(const Ran& ran)
{
  auto json = parse_json(ran.out, "stdout");
  EXPECT_TRUE(json) << ran.out;
  return json ? *json : Json();
}

constexpr const char* good_lab = R"(version: 1
name: small
hypothesis: It works.
description: Watch it.
questions: ["Why?"]
topology:
  hosts: [client, server]
  link: {rate: 1gbit, delay: 20us, mtu: 1500}
traffic:
  - {name: roce, kind: verbs, op: write, from: client, to: server, message: 64KiB}
faults:
  - {name: loss, where: {from: client, to: server}, kind: loss, rate: 1%}
measure: {warmup: 100ms, duration: 500ms, repeat: 2}
expect:
  - retention(roce) < 0.5
)";

class Cli : public testing::Test {
protected:
  void SetUp() override
  {
    auto folder = TemporaryFolder::create("rdmalab-cli-test");
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
  }
  std::string write(const std::string& name, std::string_view text) const
  {
    const fs::path path = folder_->path() / name;
    EXPECT_TRUE(write_file(path, text));
    return path.string();
  }
  /// The good lab with one thing replaced.
  std::string lab_with(const std::string& old_text, const std::string& new_text) const
  {
    std::string text = good_lab;
    const std::size_t at = text.find(old_text);
    EXPECT_NE(at, std::string::npos) << old_text;
    return write("lab.yaml", text.replace(at, old_text.size(), new_text));
  }
  [[nodiscard]] std::string folder() const { return folder_->path().string(); }

private:
  std::optional<TemporaryFolder> folder_;
};

TEST_F(Cli, HelpTellsCommandsExamplesAndExitCodes)
{
  const Ran ran = run_words({"--help"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("validate"), HasSubstr("compare"), HasSubstr("Examples:"),
                             HasSubstr("130  interrupted")));
  EXPECT_THAT(ran.err, IsEmpty());
}

TEST_F(Cli, EveryCommandHasHelp)
{
  for (const char* command : {"run", "validate", "plan", "list", "report", "compare", "explain",
                              "schema", "doctor", "gc", "image", "version"})
    EXPECT_EQ(run_words({command, "--help"}).exit, 0) << command;
}

TEST_F(Cli, VersionInThreeForms)
{
  const std::string text = std::string("rdmalab ") + version + "\n";
  EXPECT_EQ(run_words({"version"}).out, text);
  EXPECT_EQ(run_words({"--version"}).out, text);
  EXPECT_EQ(document(run_words({"version", "--json"}))["rdmalab"], version);
  EXPECT_EQ(document(run_words({"--json", "version"}))["rdmalab"], version);
}

TEST_F(Cli, NoCommandIsAUsageError)
{
  const Ran ran = run_words({});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, AllOf(StartsWith("error: no command\n"), HasSubstr("hint: ")));
  EXPECT_THAT(ran.out, IsEmpty());
}

TEST_F(Cli, AMistypedCommandIsGuessed)
{
  const Ran ran = run_words({"valdate", "x.yaml"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, HasSubstr("'valdate' is no command; did you mean \"validate\"?"));
}

TEST_F(Cli, AnUnknownFlagIsAUsageErrorOfItsCommand)
{
  const Ran ran = run_words({"plan", "x.yaml", "--frobnicate"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, AllOf(StartsWith("error: plan: "), HasSubstr("--frobnicate"),
                             HasSubstr("hint: rdmalab plan --help")));
}

TEST_F(Cli, AMissingFileNameIsAUsageErrorAlsoInJson)
{
  const Ran ran = run_words({"plan", "--json"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(document(ran)["error"]["exit"], 2);
  EXPECT_THAT(ran.err, StartsWith("error: plan: "));
}

TEST_F(Cli, ValidateAcceptsAGoodLab)
{
  const std::string file = write("lab.yaml", good_lab);
  const Ran ran = run_words({"validate", file});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.out,
            file + ": small is a valid lab: hosts 2, traffics 1, faults 1, rules 0, cells 4\n");
  EXPECT_THAT(run_words({"validate", file, "--quiet"}).out, IsEmpty());
}

struct BadInput {
  const char* what;
  const char* old_text;
  const char* new_text;
  const char* message;
};

/// One mistake each; what issue and design name as bad input.
TEST_F(Cli, ValidateRefusesBadInputWithPlaceAndExit2)
{
  const std::vector<BadInput> all{
      {"no YAML", "topology:", "topology: [", ""},
      {"unknown key", "questions:", "quesions:", "quesions"},
      {"missing unit", "delay: 20us", "delay: 20", "20"},
      {"loss of 101 %", "rate: 1%", "rate: 101%", "101%"},
      {"host twice", "[client, server]", "[client, client, server]", "client"},
      {"link to nobody", "from: client, to: server}, kind", "from: client, to: nobody}, kind",
       "nobody"},
      {"expectation of no traffic", "retention(roce)", "retention(rdma)", "rdma"},
      {"two losses",
       "faults:", "faults:\n  - {name: more, where: {to: server}, kind: loss, rate: 2%}",
       "\"more\" and \"loss\""},
  };
  for (const BadInput& bad : all) {
    const std::string file = lab_with(bad.old_text, bad.new_text);
    const Ran ran = run_words({"validate", file});
    EXPECT_EQ(ran.exit, 2) << bad.what;
    EXPECT_THAT(ran.err, AllOf(StartsWith("error: " + file), HasSubstr(bad.message))) << bad.what;
    EXPECT_THAT(ran.out, IsEmpty()) << bad.what;
    EXPECT_EQ(run_words({"plan", file}).exit, 2) << bad.what;
  }
}

TEST_F(Cli, ValidateAsJsonListsEveryFile)
{
  const std::string good = write("good.yaml", good_lab);
  const std::string bad = lab_with("rate: 1%", "rate: 101%");
  const Ran ran = run_words({"validate", "--json", good, bad});
  EXPECT_EQ(ran.exit, 2);
  Json json = document(ran);
  EXPECT_EQ(json["valid"], false);
  EXPECT_EQ(json["files"][0]["valid"], true);
  EXPECT_EQ(json["files"][0]["cells"], 4);
  EXPECT_EQ(json["files"][1]["valid"], false);
  EXPECT_THAT(json["files"][1]["errors"][0]["where"].get<std::string>(), StartsWith(bad + ":12:"));
}

TEST_F(Cli, AFileThatIsNotThere)
{
  const Ran ran = run_words({"validate", folder() + "/none.yaml"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, HasSubstr("none.yaml"));
  EXPECT_EQ(run_words({"plan", folder() + "/none.yaml"}).exit, 2);
  EXPECT_EQ(run_words({"plan", folder()}).exit, 2);
}

TEST_F(Cli, PlanShowsHostsLinksAndCells)
{
  const Ran ran = run_words({"plan", write("lab.yaml", good_lab)});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("10.0.0.2"), HasSubstr("with loss: netem limit"),
                             HasSubstr("loss random 1%"), HasSubstr("roce/faulted/1"),
                             HasSubstr("cells: 4, each 100ms of warm-up and 500ms of measuring, "
                                       "2.4s in all")));
}

TEST_F(Cli, PlanAsJsonIsThePlan)
{
  Json json = document(run_words({"plan", "--json", write("lab.yaml", good_lab)}));
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["cells"].size(), 4U);
  EXPECT_EQ(json["fabric"]["hosts"][0]["netns"], "rl-client");
}

TEST_F(Cli, PlanAsCommandsIsAScript)
{
  const std::string file = write("lab.yaml", good_lab);
  const Ran ran = run_words({"plan", file, "--tc"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_THAT(ran.out, AllOf(StartsWith("#!/bin/sh\n"), HasSubstr("\nip netns add rl-client\n")));
  const std::string script = write("script.sh", ran.out);
  EXPECT_EQ(spawn_and_wait({"sh", "-n", script}), 0);
  EXPECT_EQ(document(run_words({"plan", file, "--tc", "--json"}))["script"], ran.out);
}

TEST_F(Cli, ListNamesLabsAndBrokenOnes)
{
  write("a.yaml", good_lab);
  write("b.yaml", "version: 2\n");
  write("notes.txt", "not a lab");
  const Ran ran = run_words({"list", folder()});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("small  It works.\n"), HasSubstr("b      not a valid lab")));
  Json json = document(run_words({"list", folder(), "--json"}));
  EXPECT_EQ(json["labs"].size(), 2U);
  EXPECT_EQ(json["labs"][0]["hypothesis"], "It works.");
  EXPECT_TRUE(json["labs"][1].contains("error"));
}

TEST_F(Cli, ListOfNoFolder)
{
  const Ran ran = run_words({"list", folder() + "/none"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, HasSubstr("No such file"));
}

TEST_F(Cli, ExplainListsAndShowsTopics)
{
  EXPECT_THAT(run_words({"explain"}).out, HasSubstr("go-back-n"));
  EXPECT_THAT(run_words({"explain", "go-back-n"}).out, HasSubstr("NAK"));
  EXPECT_THAT(run_words({"explain", "exit-codes"}).out, HasSubstr("130  interrupted"));
  Json list = document(run_words({"explain", "--json"}));
  for (const Json& topic : list["topics"]) {
    const Ran ran = run_words({"explain", topic["topic"].get<std::string>()});
    EXPECT_EQ(ran.exit, 0);
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  }
}

TEST_F(Cli, EveryFaultKindHasATopic)
{
  for (const char* kind :
       {"loss", "burst-loss", "delay", "jitter", "rate", "duplicate", "reorder", "corrupt"})
    EXPECT_EQ(run_words({"explain", kind}).exit, 0) << kind;
}

TEST_F(Cli, ExplainShowsALab)
{
  const Ran ran = run_words({"explain", write("lab.yaml", good_lab)});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("It works."), HasSubstr("Watch it."), HasSubstr("- Why?"),
                             HasSubstr("- retention(roce) < 0.5")));
}

TEST_F(Cli, ExplainOfNothingKnownGuesses)
{
  const Ran ran = run_words({"explain", "go-bak-n"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, HasSubstr("did you mean \"go-back-n\"?"));
}

TEST_F(Cli, SchemaIsJson)
{
  EXPECT_TRUE(document(run_words({"schema"})).contains("properties"));
}

TEST_F(Cli, ReportRefusesWhatIsNoRecord)
{
  for (const char* text :
       {"", "no json", "[]", "{}", R"({"version": 1})", R"({"version": 9})",
        R"({"version": 1, "lab": "x", "cells": []})", R"({"version": 1, "lab": {}, "cells": 7})"}) {
    const Ran ran = run_words({"report", write("record.json", text)});
    EXPECT_EQ(ran.exit, 2) << text;
    EXPECT_THAT(ran.err, AllOf(StartsWith("error: "), HasSubstr("record.json"))) << text;
    EXPECT_THAT(ran.out, IsEmpty());
  }
  EXPECT_EQ(run_words({"report", folder() + "/none.json"}).exit, 2);
}

/// A lab that asks for one traffic, and one cell in which nothing was measured.
std::string empty_record(const std::string& lab)
{
  record::Record record;
  record.lab.name = lab;
  record.lab.topology.hosts = {{"client", {}, {}}, {"server", {}, {}}};
  record.lab.traffic.resize(1);
  record.lab.traffic[0].name = "roce";
  record.lab.traffic[0].from = "client";
  record.lab.traffic[0].to = "server";
  record.lab.groups = {{"roce"}};
  record.lab.measure.repeat = 1;
  record::Cell cell;
  cell.id = "roce/baseline/0";
  cell.traffic = {"roce"};
  cell.condition = "baseline";
  record.cells = {cell};
  return Json(record).dump();
}

TEST_F(Cli, ReportOfARecordThatProvesNothingIsNoSuccess)
{
  const std::string file = write("record.json", empty_record("empty"));
  const Ran ran = run_words({"report", file, "--json"});
  EXPECT_NE(ran.exit, 0);
  EXPECT_EQ(document(ran)["verdict"], "invalid");
  EXPECT_THAT(run_words({"report", file}).out, HasSubstr("empty"));
}

TEST_F(Cli, ReportWritesEveryFormat)
{
  const std::string file = write("record.json", empty_record("empty"));
  const Ran ran = run_words({"report", file, "--jsonl", "--junit", folder() + "/j.xml",
                             "--markdown", folder() + "/m.md", "--html", folder() + "/h.html"});
  EXPECT_NE(ran.exit, 0);
  for (const char* name : {"/j.xml", "/m.md", "/h.html"}) {
    auto text = read_file(folder() + name);
    ASSERT_TRUE(text) << name;
    EXPECT_THAT(*text, HasSubstr("empty")) << name;
  }
  EXPECT_THAT(ran.out, HasSubstr("\"event\""));
}

TEST_F(Cli, ReportOfSeveralRecords)
{
  const std::string one = write("1.json", empty_record("one"));
  const std::string two = write("2.json", empty_record("two"));
  Json json = document(run_words({"report", one, two, "--json"}));
  EXPECT_EQ(json["results"][0]["lab"], "one");
  EXPECT_EQ(json["results"][1]["lab"], "two");
  EXPECT_EQ(run_words({"report", one, two, "--html", folder() + "/h.html"}).exit, 2);
  EXPECT_EQ(run_words({"report", one, "--json", "--jsonl"}).exit, 2);
}

TEST_F(Cli, AnOutputFileThatCannotBeWritten)
{
  const std::string file = write("record.json", empty_record("empty"));
  const Ran ran = run_words({"report", file, "--json", "--junit", folder() + "/none/j.xml"});
  EXPECT_EQ(ran.exit, 4);
  EXPECT_EQ(document(ran)["error"]["exit"], 4); // and no second document
}

analysis::Result valid_result(std::uint64_t goodput)
{
  analysis::Result result;
  result.lab = "small";
  result.verdict = analysis::Verdict::pass;
  result.record_digest = "sha256:0";
  result.environment.clock = "virtual";
  analysis::TrafficResult traffic;
  traffic.name = "roce";
  traffic.kind = "verbs";
  traffic.baseline = analysis::ConditionResult{goodput, goodput, goodput, {goodput, goodput}, {}};
  result.traffic = {traffic};
  return result;
}

TEST_F(Cli, CompareSaysWhichWayItWent)
{
  const std::string fast = write("fast.json", Json(valid_result(1'000'000'000)).dump());
  const std::string slow = write("slow.json", Json(valid_result(500'000'000)).dump());
  EXPECT_EQ(run_words({"compare", fast, fast}).exit, 0);
  EXPECT_EQ(run_words({"compare", slow, fast}).exit, 0);
  EXPECT_EQ(run_words({"compare", fast, slow}).exit, 1);
  EXPECT_EQ(document(run_words({"compare", fast, slow, "--json"}))["change"], "regressed");
}

TEST_F(Cli, CompareRefusesToMixClocks)
{
  analysis::Result real = valid_result(1'000'000'000);
  real.environment.clock = "real";
  const std::string a = write("a.json", Json(valid_result(1'000'000'000)).dump());
  const std::string b = write("b.json", Json(real).dump());
  const Ran ran = run_words({"compare", a, b});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, HasSubstr("clock"));
}

TEST(Worse, ABrokenRunOutranksAFailedExpectation)
{
  EXPECT_EQ(worse(Exit::ok, Exit::ok), Exit::ok);
  EXPECT_EQ(worse(Exit::expectation, Exit::ok), Exit::expectation);
  EXPECT_EQ(worse(Exit::inconclusive, Exit::expectation), Exit::expectation);
  EXPECT_EQ(worse(Exit::setup, Exit::expectation), Exit::setup);
  EXPECT_EQ(worse(Exit::expectation, Exit::guest), Exit::guest);
}

} // namespace
} // namespace rdmalab::cli
