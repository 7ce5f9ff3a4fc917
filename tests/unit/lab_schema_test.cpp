#include "base/file.h"
#include "base/json.h"
#include "lab/keys.h"
#include "lab/parse.h"
#include "lab/schema.h"

#include <filesystem>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>

using namespace rdmalab;
using namespace rdmalab::lab;
using testing::HasSubstr;

namespace {

Json schema()
{
  return parse_json(json_schema(), "schema").value();
}

const std::vector<const Table*>& tables()
{
  static const std::vector<const Table*> all{
      &lab_table(),  &topology_table(), &link_table(),  &shape_table(), &sides_table(),
      &host_table(), &traffic_table(),  &fault_table(), &where_table(), &measure_table(),
      &rule_table(), &trace_table(),    &event_table(), &claim_table(), &sweep_table()};
  return all;
}

void collect_properties(const Json& node, std::set<std::string>& out)
{
  if (node.is_object() && node.contains("properties"))
    for (const auto& [name, value] : node.at("properties").items()) out.insert(name);
  if (node.is_structured())
    for (const auto& child : node) collect_properties(child, out);
}

} // namespace

TEST(LabSchema, HoldsEveryKeyOfTheTablesAndNoOther)
{
  std::set<std::string> in_schema;
  collect_properties(schema(), in_schema);
  std::set<std::string> in_tables;
  for (const Table* table : tables())
    for (const Key& key : table->keys) in_tables.insert(key.name);
  EXPECT_EQ(in_schema, in_tables);
}

TEST(LabSchema, SaysDraftTypesUnitsAndRequiredKeys)
{
  const Json json = schema();
  EXPECT_EQ(json.at("$schema"), "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(json.at("additionalProperties"), false);
  EXPECT_EQ(json.at("required").dump(), R"(["version","name","topology","traffic"])");
  const Json& traffic = json.at("properties").at("traffic");
  EXPECT_EQ(traffic.at("minItems"), 1);
  const Json& kinds = traffic.at("items").at("oneOf");
  ASSERT_EQ(kinds.size(), 3U);
  EXPECT_EQ(kinds[0].at("properties").at("kind").at("const"), "verbs");
  EXPECT_TRUE(kinds[0].at("properties").contains("depth"));
  EXPECT_FALSE(kinds[1].at("properties").contains("qps"));
  EXPECT_EQ(kinds[0].at("properties").at("path_mtu").at("enum").dump(), "[256,512,1024,2048,4096]");
  EXPECT_EQ(json.at("properties").at("faults").at("items").at("oneOf").size(), 8U);
  EXPECT_THAT(json.at("properties").at("timeout").at("pattern").get<std::string>(),
              HasSubstr("(s|ms|us|ns)"));
}

/// A key's default in the table is what the parser fills in: writing it out changes nothing.
TEST(LabSchema, DefaultsAreTheParsers)
{
  const std::string head = "version: 1\nname: x\n";
  const std::string hosts = "topology: {hosts: [a, b]";
  const std::string traffic = "{name: t, from: a, to: b";
  const auto parsed = [](const std::string& text) {
    const Parsed p = parse_all(text, "x.yaml");
    EXPECT_TRUE(p.lab) << text << (p.diagnostics.empty() ? "" : p.diagnostics[0].message);
    return p.lab ? Json(*p.lab).dump() : std::string();
  };
  const auto lab = [&](const std::string& top, const std::string& topology, const std::string& kind,
                       const std::string& fault) {
    return parsed(head + top + hosts + topology + "}\ntraffic: [" + traffic + kind + "}]\n" +
                  (fault.empty() ? "" : "faults: [{name: f, where: {to: b}" + fault + "}]\n"));
  };
  const auto defaults = [](const Table& table, const std::string& kind = {}) {
    std::string text;
    for (const std::string& name : table.names(kind)) {
      const Key& key = *table.find(name, kind);
      if (!key.fallback.empty()) text += fmt::format(", {}: {}", name, key.fallback);
    }
    return text;
  };
  const auto flow = [](const std::string& text) { return text.substr(2); };

  const std::string tcp = ", kind: tcp";
  const std::string plain = lab("", "", tcp, "");
  EXPECT_EQ(lab("", defaults(topology_table()), tcp, ""), plain);
  EXPECT_EQ(lab("", ", link: {" + flow(defaults(link_table())) + "}", tcp, ""), plain);
  EXPECT_EQ(lab("measure: {" + flow(defaults(measure_table())) + "}\n", "", tcp, ""), plain);
  for (const std::string& name : lab_table().names())
    if (const Key& key = *lab_table().find(name); !key.fallback.empty()) {
      EXPECT_EQ(lab(fmt::format("{}: {}\n", name, key.fallback), "", tcp, ""), plain) << name;
    }
  for (const std::string& kind : traffic_table().kinds()) {
    const std::string required = ", kind: " + kind + (kind == "command" ? ", client: true" : "");
    EXPECT_EQ(lab("", "", required + defaults(traffic_table(), kind), ""),
              lab("", "", required, ""));
  }

  const std::map<std::string, std::string> needed{{"loss", ", rate: 1%"},
                                                  {"burst-loss", ", p: 1%, r: 10%"},
                                                  {"delay", ", delay: 1ms"},
                                                  {"jitter", ", jitter: 1ms"},
                                                  {"rate", ", rate: 1mbit"},
                                                  {"duplicate", ", rate: 1%"},
                                                  {"reorder", ", rate: 1%, delay: 1ms"},
                                                  {"corrupt", ", rate: 1%"}};
  for (const std::string& kind : fault_table().kinds()) {
    const std::string link = kind == "jitter" ? ", link: {delay: 1ms}" : "";
    const std::string fault = ", kind: " + kind + needed.at(kind);
    EXPECT_EQ(lab("", link, tcp, fault + defaults(fault_table(), kind)), lab("", link, tcp, fault))
        << kind;
  }
}

/// The reference names every key as `key`.
TEST(LabSchema, TheReferenceHasEveryKey)
{
  const auto text = read_file(std::filesystem::path(RDMALAB_SOURCE_DIR) / "docs/lab-file.md");
  ASSERT_TRUE(text.ok());
  for (const Table* table : tables())
    for (const Key& key : table->keys)
      EXPECT_THAT(*text, HasSubstr("`" + key.name + "`")) << table->what;
}
