/// The rooms of src/ may include from one another only along the arrows that src/CMakeLists.txt
/// draws.
#include "base/file.h"

#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace rdmalab {
namespace {

namespace fs = std::filesystem;

using Arrows = std::map<std::string, std::set<std::string>>;

std::string text_of(const fs::path& path)
{
  auto text = read_file(path);
  EXPECT_TRUE(text) << path;
  return text ? *text : "";
}

/// room → what its rdmalab_room() line USES.
Arrows parse_arrows(const std::string& cmake)
{
  static const std::regex room_line(R"(rdmalab_room\(([^)]*)\))");
  Arrows arrows;
  for (std::sregex_iterator it(cmake.begin(), cmake.end(), room_line), end; it != end; ++it) {
    std::istringstream words((*it)[1].str());
    std::string room;
    words >> room;
    auto& uses = arrows[room];
    bool in_uses = false;
    for (std::string word; words >> word;) {
      if (word == "USES" || word == "LIBS")
        in_uses = word == "USES";
      else if (in_uses)
        uses.insert(word);
    }
  }
  return arrows;
}

/// Every room that can be reached along arrows, the room itself included.
std::set<std::string> reachable(const Arrows& arrows, const std::string& room)
{
  std::set<std::string> seen;
  std::vector<std::string> todo{room};
  while (!todo.empty()) {
    const std::string next = todo.back();
    todo.pop_back();
    if (!seen.insert(next).second) continue;
    if (const auto found = arrows.find(next); found != arrows.end())
      todo.insert(todo.end(), found->second.begin(), found->second.end());
  }
  return seen;
}

std::vector<std::string> included_files(const std::string& source)
{
  static const std::regex include_line(R"((?:^|\n)[ \t]*#[ \t]*include[ \t]*"([^"]+)\")");
  std::vector<std::string> files;
  for (std::sregex_iterator it(source.begin(), source.end(), include_line), end; it != end; ++it)
    files.push_back((*it)[1]);
  return files;
}

/// What a file of `room` includes against the arrows.
std::vector<std::string> forbidden(const Arrows& arrows, const std::string& room,
                                   const std::string& source)
{
  const std::set<std::string> allowed = reachable(arrows, room);
  std::vector<std::string> bad;
  for (const std::string& file : included_files(source)) {
    const std::string other = file.substr(0, file.find('/'));
    if (file.find('/') != std::string::npos && arrows.contains(other) && !allowed.contains(other))
      bad.push_back(file);
  }
  return bad;
}

const fs::path source_root = fs::path(RDMALAB_SOURCE_DIR) / "src";

TEST(Rooms, IncludeOnlyAlongTheArrows)
{
  const Arrows arrows = parse_arrows(text_of(source_root / "CMakeLists.txt"));
  ASSERT_GE(arrows.size(), 13U);
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(source_root)) {
    const std::string extension = entry.path().extension();
    const fs::path inside = entry.path().lexically_relative(source_root);
    if ((extension != ".h" && extension != ".cpp") || !inside.has_parent_path()) continue;
    const std::string room = *inside.begin();
    ASSERT_TRUE(arrows.contains(room)) << room << " is a folder of src/ but no rdmalab_room";
    ++files;
    for (const std::string& file : forbidden(arrows, room, text_of(entry.path())))
      ADD_FAILURE() << inside << " includes \"" << file << "\", which room " << room
                    << " may not use";
  }
  EXPECT_GT(files, 50U);
}

TEST(Rooms, ArrowsPointOneWayOnly)
{
  const Arrows arrows = parse_arrows(text_of(source_root / "CMakeLists.txt"));
  for (const auto& [room, uses] : arrows)
    for (const std::string& other : uses) {
      EXPECT_TRUE(arrows.contains(other)) << room << " uses " << other << ", which is no room";
      EXPECT_FALSE(reachable(arrows, other).contains(room)) << room << " and " << other;
    }
}

TEST(Rooms, PureRoomsReachNoKernel)
{
  const Arrows arrows = parse_arrows(text_of(source_root / "CMakeLists.txt"));
  for (const char* pure : {"base", "lab", "plan", "record", "wire", "analysis", "report"})
    for (const char* kernel : {"net", "fault", "traffic", "measure", "engine"})
      EXPECT_FALSE(reachable(arrows, pure).contains(kernel)) << pure << " reaches " << kernel;
}

TEST(Rooms, TheCheckItselfFindsABadInclude)
{
  const Arrows arrows =
      parse_arrows("rdmalab_room(base LIBS x::y)\nrdmalab_room(lab USES base LIBS "
                   "yaml)\nrdmalab_room(plan USES lab)\nrdmalab_room(net USES base)");
  EXPECT_EQ(forbidden(arrows, "plan", "#include \"base/a.h\"\n#include \"lab/b.h\"\n"),
            std::vector<std::string>{});
  EXPECT_EQ(forbidden(arrows, "lab", "#pragma once\n#include \"plan/plan.h\"\n"),
            std::vector<std::string>{"plan/plan.h"});
  EXPECT_EQ(forbidden(arrows, "plan", "  # include \"net/link.h\"\n"),
            std::vector<std::string>{"net/link.h"});
  EXPECT_EQ(forbidden(arrows, "lab", "#include <net/if.h>\n#include \"linux/if.h\"\n"),
            std::vector<std::string>{});
}

} // namespace
} // namespace rdmalab
