/// Every output format of one Result, byte for byte as in tests/golden/report, and what each format
/// promises. RDMALAB_UPDATE_GOLDEN=1 writes the files anew.
#include "analysis/analyse.h"
#include "analysis_fixture.h"
#include "base/file.h"
#include "base/json.h"
#include "report/closing.h"
#include "report/compare_table.h"
#include "report/html.h"
#include "report/json.h"
#include "report/jsonl.h"
#include "report/junit.h"
#include "report/markdown.h"
#include "report/phrases.h"
#include "report/table.h"
#include "report/text.h"

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmalab::report {
namespace {

using analysis::analyse;
using analysis::Result;
using analysis::Verdict;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Style plain{true, false, 100};

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

/// The digest would make every golden file depend on each field of a Record.
Result judged(const record::Record& record)
{
  Result result = analyse(record);
  result.record_digest = "sha256:0123456789abcdef";
  return result;
}

Result passing()
{
  return judged(test::loss_record());
}

Result failing()
{
  record::Record record = test::loss_record();
  record.lab.expect = {{"retention(roce) < 0.30", 20, 5},
                       {"retention(roce) > 0.5", 21, 5},
                       {"retention(roce) < 0.271", 22, 5}};
  return judged(record);
}

Result invalid()
{
  record::Record record = test::loss_record();
  record.cells[0].kernel_log = {"BUG: <bad> & \"worse\" \xff"};
  return judged(record);
}

std::vector<std::string> lines(const std::string& text)
{
  std::istringstream in(text);
  std::vector<std::string> all;
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

/// Is this one well-formed XML element tree? Checks nesting, attributes and entities: what a parser
/// refuses. Empty: it is.
std::string xml_error(std::string_view text)
{
  std::vector<std::string> open;
  const auto bad_text = [](std::string_view t) {
    for (std::size_t at = t.find('&'); at != std::string_view::npos; at = t.find('&', at + 1)) {
      const std::string_view name = t.substr(at + 1, t.find(';', at) - at - 1);
      if (name != "amp" && name != "lt" && name != "gt" && name != "quot" && !name.starts_with('#'))
        return true;
    }
    return t.find('<') != std::string_view::npos;
  };
  if (text.starts_with("<?xml")) text.remove_prefix(text.find("?>") + 2);
  while (true) {
    const std::size_t start = text.find('<');
    if (bad_text(text.substr(0, start))) return "bad character data";
    if (start == std::string_view::npos) return open.empty() ? "" : "not closed: " + open.back();
    // A '>' inside a quoted attribute does not end the tag.
    std::size_t end = start;
    for (bool quoted = false; end < text.size() && (quoted || text[end] != '>'); ++end)
      if (text[end] == '"') quoted = !quoted;
    if (end == text.size()) return "tag without end";
    std::string_view tag = text.substr(start + 1, end - start - 1);
    text.remove_prefix(end + 1);
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) return "wrong close: " + std::string(tag);
      open.pop_back();
      continue;
    }
    const bool closed = tag.ends_with('/');
    if (closed) tag.remove_suffix(1);
    const std::string name(tag.substr(0, tag.find(' ')));
    tag.remove_prefix(name.size());
    while (tag.starts_with(' ')) {
      const std::size_t value = tag.find("=\"");
      if (value == std::string_view::npos) return "attribute without value in " + name;
      const std::size_t stop = tag.find('"', value + 2);
      if (stop == std::string_view::npos) return "attribute without end in " + name;
      if (bad_text(tag.substr(value + 2, stop - value - 2))) return "bad attribute in " + name;
      tag.remove_prefix(stop + 1);
    }
    if (!tag.empty()) return "junk in tag " + name;
    if (!closed) open.push_back(name);
  }
}

TEST(XmlChecker, RefusesWhatAParserRefuses)
{
  EXPECT_EQ(xml_error("<a b=\"1\"><c/>t&amp;</a>"), "");
  for (const char* bad : {"<a>", "<a></b>", "<a b=1/>", "<a>&x</a>", "<a b=\"<\"/>", "<a b=\"1/>"})
    EXPECT_NE(xml_error(bad), "") << bad;
}

TEST(Golden, EveryFormat)
{
  const Result result = passing();
  expect_golden("loss.json", json(result));
  expect_golden("loss.jsonl", jsonl(test::loss_record(), result));
  expect_golden("loss.txt", table(result, plain));
  expect_golden("loss-ascii.txt", table(result, {false, false, 80}));
  expect_golden("loss.md", markdown(result));
  expect_golden("loss.html", html(result));
  expect_golden("failing.txt", table(failing(), plain));
  expect_golden("invalid.txt", table(invalid(), plain));
  expect_golden("all.xml", junit({result, failing(), invalid()}, false));
}

TEST(Table, NoLineIsWiderThanAllowed)
{
  for (const Result& result : {passing(), failing(), invalid()})
    for (const std::size_t width : {40U, 72U, 100U})
      for (const bool utf8 : {true, false})
        for (const std::string& line : lines(table(result, {utf8, false, width}))) {
          // A single word may be longer than a narrow terminal: the digest.
          if (line.find(' ') == std::string::npos) continue;
          EXPECT_LE(display_width(line), width) << line;
        }
}

TEST(Table, AsciiMeansAscii)
{
  for (const char c : table(passing(), {false, false, 100}))
    EXPECT_LT(static_cast<unsigned char>(c), 0x80);
}

TEST(Table, ColourOnlyWhenAsked)
{
  EXPECT_THAT(table(passing(), plain), Not(HasSubstr("\x1b")));
  EXPECT_THAT(table(passing(), {true, true, 100}), HasSubstr("\x1b[32m"));
}

TEST(Table, AnInvalidRunShowsReasonsAndNoRetention)
{
  const std::string text = table(invalid(), plain);
  EXPECT_THAT(text, HasSubstr("INVALID"));
  EXPECT_THAT(text, HasSubstr("kernel splat"));
  EXPECT_THAT(text, Not(HasSubstr("27.1 %")));
  EXPECT_THAT(text, HasSubstr("Nothing can be concluded"));
}

TEST(ClosingParagraph, SaysWhatWasKept)
{
  EXPECT_EQ(closing_paragraph(passing()),
            "With loss of 1% (client to server) roce kept 27 % of its throughput and tcp 97 %.");
}

TEST(ClosingParagraph, OfManyTrafficsNamesTheExtremesAndCountsClaims)
{
  Result result = passing();
  const analysis::TrafficResult tcp = result.traffic[1];
  for (int i = 0; i < 6; ++i) {
    result.traffic.push_back(tcp);
    result.traffic.back().name = "more-" + std::to_string(i);
  }
  result.traffic.back().ended = {"post"};
  const auto claim = [](analysis::ClaimVerdict verdict) {
    analysis::ClaimResult made;
    made.verdict = verdict;
    return made;
  };
  result.claims = {claim(analysis::ClaimVerdict::confirmed),
                   claim(analysis::ClaimVerdict::unmeasured),
                   claim(analysis::ClaimVerdict::confirmed)};
  result.path.emplace();
  result.path->fits.push_back({{"a", "b", "c"}, "tcp", "client", 4096, 0, 2, 0, 1});
  EXPECT_EQ(
      closing_paragraph(result),
      "With loss of 1% (client to server) 7 traffics kept between 27 % (roce) and 97 % (tcp) of "
      "their throughput. One traffic failed, as the lab expects. A message over "
      "tcp costs the client 4.1 us, and 2.05 us more a KiB: from 2 KiB on its bytes outweigh it. "
      "Of 3 claims of the course held against this, 2 confirmed and 1 not to be measured here.");
}

TEST(JsonDocument, IsOneDocumentWithoutNonNumbers)
{
  Result result = passing();
  result.traffic[0].retention->value = std::numeric_limits<double>::quiet_NaN();
  result.traffic[0].retention->high = std::numeric_limits<double>::infinity();
  result.timing.wall_seconds = -std::numeric_limits<double>::infinity();
  const std::string text = json(result);
  const auto parsed = parse_json(text, "the result");
  ASSERT_TRUE(parsed) << parsed.error().message();
  EXPECT_TRUE(parsed->at("traffic")[0].at("retention").at("value").is_null());
  EXPECT_TRUE(parsed->at("timing").at("wall_seconds").is_null());
  for (const char* word : {": nan", ": NaN", ": inf", ": -inf"})
    EXPECT_THAT(text, Not(HasSubstr(word)));
}

TEST(JsonDocument, SurvivesTextThatIsNoUtf8)
{
  EXPECT_TRUE(parse_json(json(invalid()), "the result"));
  EXPECT_EQ(lines(json(invalid(), false)).size(), 1U);
}

TEST(JsonLines, OneDocumentALineAndTheResultLast)
{
  const auto record = test::loss_record();
  const auto all = lines(jsonl(record, analyse(record)));
  ASSERT_EQ(all.size(), record.cells.size() + 1);
  for (const std::string& line : all) ASSERT_TRUE(parse_json(line, "line")) << line;
  EXPECT_EQ(parse_json(all.front(), "line")->at("event"), "cell");
  EXPECT_EQ(parse_json(all.back(), "line")->at("event"), "result");
}

TEST(Junit, IsWellFormedAndCounts)
{
  for (const bool strict : {false, true}) {
    const std::string text = junit({passing(), failing(), invalid()}, strict);
    EXPECT_EQ(xml_error(text), "");
    // 3 validity cases, 2 + 3 + 2 expectations; the invalid run errs in all three of its cases.
    EXPECT_THAT(text, HasSubstr(strict ? "tests=\"10\" failures=\"2\" errors=\"3\" skipped=\"0\""
                                       : "tests=\"10\" failures=\"1\" errors=\"3\" skipped=\"1\""));
  }
  EXPECT_EQ(xml_error(junit({}, false)), "");
}

TEST(Markdown, EscapesWhatWouldBreakTheTable)
{
  Result result = failing();
  result.traffic[0].name = "a|b<c>";
  result.expectations[0].text = "x | `y`";
  const std::string text = markdown(result);
  EXPECT_THAT(text, HasSubstr("a\\|b&lt;c&gt;"));
  EXPECT_THAT(text, HasSubstr("`x \\| 'y'`"));
}

TEST(Html, EscapesAndFetchesNothing)
{
  Result result = invalid();
  const std::string text = html(result);
  EXPECT_THAT(text, HasSubstr("&lt;bad&gt;"));
  for (const char* word : {"<script", "http:", "https:", "url("})
    EXPECT_THAT(text, Not(HasSubstr(word)));
  EXPECT_THAT(html(passing()), HasSubstr("<svg"));
}

TEST(Claims, StandInEveryFormatForPeople)
{
  record::Record record = test::loss_record();
  record.lab.claims = {{"It <collapses>", "lesson 5", "retention(roce) < 0.5", {}, 1, 1},
                       {"In hardware", "lesson 2", "", "there is none", 0, 0}};
  const Result result = judged(record);
  for (const std::string& text : {table(result, plain), markdown(result), html(result)}) {
    EXPECT_THAT(text, HasSubstr("lesson 5"));
    EXPECT_THAT(text, HasSubstr("confirmed"));
    EXPECT_THAT(text, HasSubstr("0.271"));
    EXPECT_THAT(text, HasSubstr("there is none"));
    EXPECT_THAT(text, HasSubstr("not measurable here"));
  }
  EXPECT_THAT(html(result), Not(HasSubstr("<collapses>")));
}

TEST(ProgramFigures, HaveATableOfTheirOwn)
{
  record::Record record = test::loss_record();
  test::make_program(record, "us", 12'300, 30'700);
  const Result result = judged(record);
  expect_golden("figures.txt", table(result, plain));
  expect_golden("figures.md", markdown(result));
  expect_golden("figures.html", html(result));
  for (const std::string& text :
       {table(result, plain), markdown(result), html(result), closing_paragraph(result)})
    EXPECT_THAT(text, Not(HasSubstr("0 b/s")));
  const std::string text = jsonl(record, result);
  EXPECT_THAT(text, HasSubstr(R"("traffic":"tcp","outcome":"ok","goodput_bps":null)"));
  EXPECT_THAT(text, HasSubstr(R"("figure":12300)"));
}

TEST(CompareTable, NamesTheRegression)
{
  const Result before = passing();
  record::Record record = test::loss_record();
  for (record::Cell& c : record.cells)
    if (c.id.starts_with("roce/faulted")) c.flows[0].bytes /= 2;
  Result after = judged(record);
  after.record_digest = "sha256:fedcba9876543210";
  const auto comparison = analysis::compare(before, after);
  ASSERT_TRUE(comparison);
  const std::string text = compare_table(*comparison, plain);
  EXPECT_THAT(text, HasSubstr("REGRESSED"));
  EXPECT_THAT(text, HasSubstr("-50.0 %"));
  expect_golden("compare.txt", text);
}

} // namespace
} // namespace rdmalab::report
