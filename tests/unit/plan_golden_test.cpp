/// Plans and their equivalent commands, byte for byte as in tests/golden/plan: of every lab in
/// labs/ and of labs built here. What a plan has by default stands once, in defaults.json; the
/// other files hold what differs from it, without the lab's words and judgements.
/// RDMALAB_UPDATE_GOLDEN=1 writes the files anew.
#include "base/file.h"
#include "base/json.h"
#include "lab/parse.h"
#include "plan/commands.h"
#include "plan/planner.h"
#include "plan_labs.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

namespace rdmalab::plan {
namespace {

namespace fs = std::filesystem;

void expect_golden(const std::string& name, const std::string& text)
{
  const fs::path path = fs::path(RDMALAB_SOURCE_DIR) / "tests/golden/plan" / name;
  if (const char* update = std::getenv("RDMALAB_UPDATE_GOLDEN");
      update != nullptr && *update == '1') {
    ASSERT_TRUE(write_file(path, text));
    return;
  }
  auto golden = read_file(path);
  ASSERT_TRUE(golden) << golden.error().message() << "; write it with RDMALAB_UPDATE_GOLDEN=1";
  EXPECT_EQ(*golden, text) << "if that is meant, write " << name << " with RDMALAB_UPDATE_GOLDEN=1";
}

/// A plan, and what the members of its lists are if nothing is said of them, by the lists' keys.
const Json& defaults()
{
  static const Json all{{"plan", Plan{}},         {"traffic", lab::Traffic{}},
                        {"faults", lab::Fault{}}, {"rules", lab::Rule{}},
                        {"events", lab::Event{}}, {"shapers", Shaper{}}};
  return all;
}

/// The value without the keys that are as in `standard`.
Json difference(const Json& value, const Json& standard)
{
  Json result = Json::object();
  for (const auto& [key, item] : value.items()) {
    const bool known = standard.contains(key);
    if (known && standard[key] == item) continue;
    result[key] = item;
    if (item.is_object() && known && standard[key].is_object())
      result[key] = difference(item, standard[key]);
    if (item.is_array() && defaults().contains(key))
      for (Json& member : result[key])
        if (member.is_object()) member = difference(member, defaults()[key]);
  }
  return result;
}

void expect_golden_plan(const lab::Lab& lab)
{
  auto plan = make_plan(lab);
  ASSERT_TRUE(plan) << lab.name << ": " << plan.error().message();
  Json golden = difference(Json(*plan), defaults()["plan"]);
  for (Json& cell : golden["cells"]) cell = cell.dump(); // a line each
  // Words and judgements are for people and for the analysis: no plan depends on them.
  for (const char* key :
       {"hypothesis", "description", "questions", "expect", "claims", "conclusion"})
    golden["lab"].erase(key);
  expect_golden(lab.name + ".json", golden.dump(2) + "\n");
  expect_golden(lab.name + ".sh", shell_script(*plan));
}

/// Every kind of fault, one or more to a port, with the ifb of a sender.
lab::Lab every_fault()
{
  using lab::FaultKind;
  lab::Lab lab = test::three_hosts();
  lab.name = "every-fault";
  lab.topology.hosts[2].up = lab::LinkShape{100'000'000, 50'000, 500};
  lab.measure.repeat = 1;
  for (const FaultKind kind : {FaultKind::loss, FaultKind::delay, FaultKind::jitter,
                               FaultKind::rate, FaultKind::duplicate, FaultKind::corrupt})
    lab.faults.push_back(test::fault(kind));
  lab.faults[1].delay_ns = 200'000;
  lab.faults[2].jitter_ns = 100'000;
  lab.faults[3].rate_bps = 200'000'000;
  lab.faults.push_back(test::fault(FaultKind::burst_loss));
  lab.faults.back().p_ppm = 1'000;
  lab.faults.back().r_ppm = 250'000;
  lab.faults.push_back(test::fault(FaultKind::reorder, 250'000));
  lab.faults.back().delay_ns = 10'000;
  lab.faults.back().gap = 3;
  for (std::size_t i = 6; i < 8; ++i) {
    lab.faults[i].from = "client";
    lab.faults[i].to.reset();
  }
  return lab;
}

TEST(GoldenPlan, Defaults)
{
  expect_golden("defaults.json", defaults().dump(2) + "\n");
}

TEST(GoldenPlan, EveryFault)
{
  expect_golden_plan(every_fault());
}

TEST(GoldenPlan, ShippedLabs)
{
  std::vector<fs::path> labs;
  for (const auto& entry : fs::directory_iterator(fs::path(RDMALAB_SOURCE_DIR) / "labs"))
    if (entry.path().extension() == ".yaml") labs.push_back(entry.path());
  std::sort(labs.begin(), labs.end());
  for (const fs::path& path : labs) {
    auto lab = lab::load_file(path);
    ASSERT_TRUE(lab) << lab.error().message();
    EXPECT_EQ(lab->name, path.stem()) << "the golden file is called after the lab";
    expect_golden_plan(*lab);
  }
}

} // namespace
} // namespace rdmalab::plan
