#include "base/file.h"
#include "lab/parse.h"

#include <filesystem>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

/// Each file of tests/golden/bad-labs says in its first lines where it is wrong (`*`: anywhere),
/// what the message has to say, and what the hint has to hold.
using namespace rdmalab;
using namespace rdmalab::lab;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

struct Expected {
  std::string where;
  std::string message;
  std::string hint;
};

Expected read_expected(const std::string& text)
{
  Expected expected;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("# hint: ", 0) == 0) expected.hint = line.substr(8);
    if (line.rfind("# expect: ", 0) != 0) continue;
    const std::size_t end = line.find(": ", 10);
    expected.where = line.substr(10, end - 10);
    expected.message = line.substr(end + 2);
  }
  return expected;
}

} // namespace

TEST(BadLabs, EachIsRefusedAtItsPlaceWithItsWords)
{
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(RDMALAB_SOURCE_DIR) / "tests/golden/bad-labs")) {
    SCOPED_TRACE(entry.path().filename().string());
    ++files;
    const std::string text = read_file(entry.path()).value();
    const Expected expected = read_expected(text);
    ASSERT_FALSE(expected.message.empty());
    const auto lab = parse(text, "bad.yaml");
    ASSERT_FALSE(lab.ok());
    EXPECT_EQ(lab.error().exit, Exit::usage);
    EXPECT_THAT(lab.error().attempted, HasSubstr(expected.message));
    EXPECT_THAT(lab.error().hint, HasSubstr(expected.hint));
    if (expected.where == "*")
      EXPECT_THAT(lab.error().where, StartsWith("bad.yaml:"));
    else
      EXPECT_EQ(lab.error().where, "bad.yaml:" + expected.where);
    EXPECT_EQ(parse_all(text, "bad.yaml").diagnostics.size(), 1U) << "one mistake is one message";
  }
  EXPECT_GE(files, 90);
}
