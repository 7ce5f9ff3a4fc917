/// Sequence diagrams of recoveries, byte for byte as in tests/golden/report.
/// RDMALAB_UPDATE_GOLDEN=1 writes the files anew.
#include "analysis/recovery.h"
#include "analysis/sequence.h"
#include "base/file.h"
#include "base/json.h"
#include "recovery_script.h"
#include "report/ladder.h"
#include "report/ladder_svg.h"
#include "report/recovery_table.h"
#include "report/text.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmalab::report {
namespace {

using analysis::Sequence;
using analysis::test::RcScene;
using analysis::test::RcSetup;
using analysis::test::TcpScript;
using ::testing::HasSubstr;
using ::testing::Not;
using wire::FaultAction;
using wire::PacketClass;

constexpr Style utf8{true, false, 100};
constexpr Style ascii{false, false, 80};

void expect_golden(const std::string& name, const std::string& text)
{
  const auto path = std::filesystem::path(RDMALAB_SOURCE_DIR) / "tests/golden/report" / name;
  if (const char* update = std::getenv("RDMALAB_UPDATE_GOLDEN");
      update != nullptr && *update == '1') {
    ASSERT_TRUE(write_file(path, text));
    return;
  }
  auto golden = read_file(path);
  ASSERT_TRUE(golden) << golden.error().message() << "; write it with RDMALAB_UPDATE_GOLDEN=1";
  EXPECT_EQ(*golden, text) << "if that is meant, write " << name << " with RDMALAB_UPDATE_GOLDEN=1";
}

struct Told {
  analysis::RecoveryReport report;
  Sequence sequence;
};

Told tell(const wire::Trace& trace, const analysis::TraceFlows& flows)
{
  Told told{analysis::analyse_recovery(trace, flows), {}};
  const auto which = analysis::telling_episode(told.report);
  EXPECT_TRUE(which);
  if (which)
    told.sequence =
        *analysis::episode_sequence(trace, flows, told.report, which->first, which->second);
  return told;
}
Told tell(const RcSetup& setup)
{
  const RcScene scene(setup);
  return tell(scene.owned.trace, scene.flows);
}

RcSetup lost_retransmission()
{
  RcSetup setup;
  setup.faults = {{"drop-40", PacketClass::data, 40, 1}, {"and-again", PacketClass::data, 40, 2}};
  return setup;
}

Told tcp()
{
  TcpScript s;
  for (std::uint32_t i = 0; i < 4; ++i) {
    s.data(100'000 + i * 8'000, i);
    s.ack(110'000 + i * 8'000, i + 1);
  }
  s.data(200'000, 4, true);
  for (std::uint32_t i = 5; i < 9; ++i) {
    s.data(200'000 + (i - 4) * 8'000, i);
    s.ack(210'000 + (i - 4) * 8'000, 4, 5, i + 1);
  }
  s.data(237'000, 4);
  s.ack(247'000, 9);
  s.finish(300'000);
  return tell(s.owned.trace, s.flows);
}

TEST(Ladder, LostRetransmission)
{
  const Told told = tell(lost_retransmission());
  const std::string text = ladder(told.sequence, utf8);
  expect_golden("ladder.txt", text);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 40);
}

TEST(Ladder, InAsciiAndNarrow)
{
  const std::string text = ladder(tell(lost_retransmission()).sequence, ascii);
  expect_golden("ladder-ascii.txt", text);
  EXPECT_THAT(text, Not(HasSubstr("?")));
  for (const char c : text) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
}

TEST(Ladder, NoLineIsWiderThanAsked)
{
  for (const std::size_t width : {40U, 63U, 100U}) {
    std::istringstream lines(ladder(tell(lost_retransmission()).sequence, {true, false, width}));
    // The names in the title are what they are.
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) EXPECT_LE(display_width(line), width) << line;
  }
}

TEST(Ladder, Tcp)
{
  expect_golden("ladder-tcp.txt", ladder(tcp().sequence, utf8));
}

TEST(Ladder, ReadAndStaleIcrc)
{
  RcSetup setup;
  setup.read = true;
  setup.packets = setup.message = 40;
  setup.faults = {{"corrupt", PacketClass::read_response, 7, 1, FaultAction::corrupt}};
  expect_golden("ladder-read.txt", ladder(tell(setup).sequence, utf8));
}

TEST(Ladder, JsonBothWays)
{
  const Json json = tell(lost_retransmission()).sequence;
  EXPECT_EQ(Json(json.get<Sequence>()), json);
}

TEST(Ladder, NoSuchEpisode)
{
  const RcScene scene{RcSetup{}};
  const auto report = analysis::analyse_recovery(scene.owned.trace, scene.flows);
  EXPECT_FALSE(analysis::telling_episode(report));
  EXPECT_FALSE(analysis::episode_sequence(scene.owned.trace, scene.flows, report, 0, 0));
}

TEST(LadderSvg, LostRetransmission)
{
  expect_golden("ladder.svg", ladder_svg(tell(lost_retransmission()).sequence));
}

TEST(LadderSvg, EscapesNamesAndRunsNothing)
{
  RcSetup setup = lost_retransmission();
  setup.faults[0].name = "<script>\"&'";
  const std::string svg = ladder_svg(tell(setup).sequence);
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;&quot;&amp;&#39;"));
  EXPECT_THAT(svg, Not(HasSubstr("href")));
}

TEST(RecoveryTable, Sections)
{
  Told told = tell(lost_retransmission());
  analysis::RecoveryReport both = told.report;
  const Told other = tcp();
  both.flows.insert(both.flows.end(), other.report.flows.begin(), other.report.flows.end());
  both.traffic.insert(both.traffic.end(), other.report.traffic.begin(), other.report.traffic.end());
  both.time.insert(both.time.end(), other.report.time.begin(), other.report.time.end());
  both.problems = {"3 records found no room in the trace's buffer"};
  expect_golden("recovery.txt", recovery_table(both, utf8));
  expect_golden("recovery-ascii.txt", recovery_table(both, ascii));
}

TEST(RecoveryTable, NothingToSay)
{
  EXPECT_EQ(recovery_table({}, utf8), "");
}

} // namespace
} // namespace rdmalab::report
