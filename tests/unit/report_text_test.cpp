#include "report/grid.h"
#include "report/style.h"
#include "report/text.h"
#include "report/xml.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

namespace rdmalab::report {
namespace {

TEST(Text, WidthInColumns)
{
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("✔ λ…"), 4U);
  EXPECT_EQ(display_width("漢字"), 4U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(display_width("\x1b[31mred\x1b[0m"), 3U);
  EXPECT_EQ(display_width("\xff\xfe"), 2U); // no UTF-8: two replacement characters
}

TEST(Text, CutsAndPadsByColumns)
{
  EXPECT_EQ(shorten("abcdef", 4), "abc…");
  EXPECT_EQ(shorten("漢字漢字", 4), "漢…");
  EXPECT_EQ(shorten("abc", 3), "abc");
  EXPECT_EQ(shorten("abc", 0), "");
  EXPECT_EQ(pad("λ", 3), "λ  ");
  EXPECT_EQ(pad("λ", 3, true), "  λ");
}

TEST(Text, WrapsAtSpaces)
{
  const std::vector<std::string> expected{"one two", "three", "incomprehensibilities", "x"};
  EXPECT_EQ(wrap("one two three incomprehensibilities x", 8), expected);
  EXPECT_TRUE(wrap("", 8).empty());
  const std::vector<std::string> glued{"it kept", "97 % of it"};
  EXPECT_EQ(wrap("it kept 97 % of it", 10), glued);
}

TEST(Text, AsciiLikeness)
{
  EXPECT_EQ(to_ascii("p²·λ → 1 … 2 ✔"), "p^2*lambda -> 1 ... 2 ok");
  EXPECT_EQ(to_ascii("漢"), "?");
}

TEST(Text, Bars)
{
  EXPECT_EQ(bar(1, 4, false), "####");
  EXPECT_EQ(bar(0.5, 4, false), "##..");
  EXPECT_EQ(bar(7, 4, false), "####");
  EXPECT_EQ(bar(-1, 4, false), "....");
  EXPECT_EQ(bar(0.0 / 0.0, 2, false), "..");
  EXPECT_EQ(display_width(bar(0.37, 24, true)), 24U);
  EXPECT_EQ(bar(0.5 + 1.0 / 16, 2, true), "█▏");
}

TEST(Text, DecodesOnlyWellFormedUtf8)
{
  EXPECT_EQ(decode("\xc0\xaf").value, 0xFFFDU);     // overlong '/'
  EXPECT_EQ(decode("\xed\xa0\x80").value, 0xFFFDU); // a surrogate
  EXPECT_EQ(decode("\xe2\x82").value, 0xFFFDU);     // cut short
  EXPECT_EQ(decode("€").value, 0x20ACU);
}

Style style(bool terminal, const std::map<std::string, std::string>& env, std::size_t columns = 0)
{
  return style_of(terminal, columns, [&](const char* name) -> const char* {
    const auto found = env.find(name);
    return found == env.end() ? nullptr : found->second.c_str();
  });
}

TEST(Style, FollowsTerminalAndEnvironment)
{
  EXPECT_TRUE(style(true, {{"LANG", "C.UTF-8"}}).colour);
  EXPECT_FALSE(style(false, {{"LANG", "C.UTF-8"}}).colour);
  EXPECT_FALSE(style(true, {{"NO_COLOR", "1"}}).colour);
  EXPECT_TRUE(style(true, {{"NO_COLOR", ""}}).colour); // no-color.org: only when not empty
  EXPECT_FALSE(style(true, {{"TERM", "dumb"}}).colour);
  EXPECT_TRUE(style(true, {{"LANG", "de_DE.utf8"}}).utf8);
  EXPECT_FALSE(style(true, {{"LANG", "C"}}).utf8);
  EXPECT_FALSE(style(true, {}).utf8);
  EXPECT_FALSE(style(true, {{"LC_ALL", "C"}, {"LANG", "C.UTF-8"}}).utf8);
  EXPECT_EQ(style(true, {}, 300).width, 100U);
  EXPECT_EQ(style(true, {}, 10).width, 40U);
  EXPECT_EQ(style(true, {}, 80).width, 80U);
}

TEST(Style, PaintsOnlyWithColour)
{
  EXPECT_EQ(paint({true, false, 80}, Tone::bad, "x"), "x");
  EXPECT_EQ(paint({true, true, 80}, Tone::bad, "x"), "\x1b[31mx\x1b[0m");
  EXPECT_EQ(paint({true, true, 80}, Tone::plain, "x"), "x");
}

TEST(Grid, AlignsColumnsAndKeepsTheWidth)
{
  Grid grid({{"name"}, {"n", true}});
  grid.add({"λ", "1"});
  grid.add({"long name", "1000"});
  EXPECT_EQ(grid.text({true, false, 80}), "name          n\nλ             1\nlong name  1000\n");
  EXPECT_EQ(grid.text({true, false, 12}), "name       …\nλ          …\nlong name  …\n");
  EXPECT_EQ(grid.text({false, false, 12}), "name\nlambda\nlong name  1\n");
}

TEST(Xml, EscapesWhatXmlForbids)
{
  EXPECT_EQ(xml_text("a < b && \"c\" > 'd'"), "a &lt; b &amp;&amp; &quot;c&quot; &gt; &#39;d&#39;");
  EXPECT_EQ(xml_text("l1\nl2"), "l1&#10;l2");
  EXPECT_EQ(xml_text(std::string("\x01\xff", 2)), "\uFFFD\uFFFD");
  EXPECT_EQ(xml_text("λ"), "λ");
}

} // namespace
} // namespace rdmalab::report
