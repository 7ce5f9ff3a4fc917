#include "lab/schema.h"

#include "base/json.h"
#include "lab/keys.h"
#include "lab/reader.h"

#include <limits>

namespace rdmalab::lab {
namespace {

Json schema_of(const Table& table);

Json named(const std::string& type)
{
  return Json{{"type", type}};
}

Json name_schema()
{
  Json schema = named("string");
  schema["pattern"] = name_pattern;
  return schema;
}

Json list_of(Json item, unsigned min)
{
  Json schema = named("array");
  schema["items"] = std::move(item);
  if (min > 0) schema["minItems"] = min;
  return schema;
}

/// Choices of an integer are numbers in YAML.
Json integer_schema(const Key& key)
{
  Json schema = named("integer");
  if (!key.choices.empty()) {
    schema["enum"] = Json::array();
    for (const std::string& choice : key.choices) schema["enum"].push_back(std::stoull(choice));
    return schema;
  }
  schema["minimum"] = key.min;
  if (key.max != std::numeric_limits<std::uint64_t>::max()) schema["maximum"] = key.max;
  return schema;
}

Json value_schema(const Key& key)
{
  switch (key.type) {
  case Type::text:
    return Json{{"type", Json::array({"string", "number", "boolean"})}};
  case Type::name:
    return name_schema();
  case Type::choice:
    return Json{{"enum", key.choices}};
  case Type::flag:
    return Json{{"enum", Json::array({true, false, "on", "off"})}};
  case Type::integer:
    return integer_schema(key);
  case Type::time:
  case Type::bytes:
  case Type::rate:
  case Type::share: {
    Json schema = named("string");
    schema["pattern"] = quantity_pattern(key.type);
    return schema;
  }
  case Type::object:
    return schema_of(*key.table);
  case Type::objects:
    return list_of(schema_of(*key.table), key.required ? 1 : 0);
  case Type::hosts: {
    Json item;
    item["anyOf"] = Json::array({name_schema(), schema_of(*key.table)});
    return list_of(std::move(item), 2);
  }
  case Type::links: {
    Json schema = named("object");
    schema["additionalProperties"] = schema_of(*key.table);
    return schema;
  }
  case Type::groups: {
    Json schema;
    schema["anyOf"] =
        Json::array({Json{{"enum", key.choices}}, list_of(list_of(name_schema(), 1), 1)});
    return schema;
  }
  case Type::texts:
    return list_of(named("string"), 0);
  case Type::shares: {
    Json share = named("string");
    share["pattern"] = quantity_pattern(Type::share);
    return list_of(std::move(share), 1);
  }
  case Type::words: {
    const Json word{{"enum", key.choices}};
    Json schema;
    schema["anyOf"] = Json::array({word, list_of(word, 1)});
    return schema;
  }
  case Type::time_or_word: {
    Json time = named("string");
    time["pattern"] = quantity_pattern(Type::time);
    Json schema;
    schema["anyOf"] = Json::array({Json{{"enum", key.choices}}, time});
    return schema;
  }
  case Type::spans: {
    Json number = named("integer");
    number["minimum"] = key.min;
    number["maximum"] = key.max;
    Json range = named("string");
    range["pattern"] = "^[0-9]+(\\.\\.[0-9]*)?$";
    Json schema;
    schema["anyOf"] = Json::array({number, range, list_of(Json{{"anyOf", {number, range}}}, 1)});
    return schema;
  }
  }
  return {};
}

Json default_of(const Key& key)
{
  if (key.type == Type::integer) return std::stoull(key.fallback);
  return key.fallback;
}

std::string described(const Key& key)
{
  switch (key.type) {
  case Type::time:
  case Type::bytes:
  case Type::rate:
  case Type::share:
    return key.help + "; " + format_quantity(key.type, key.min) + " to " +
           format_quantity(key.type, key.max);
  default:
    return key.help;
  }
}

Json mapping_schema(const Table& table, const std::string& kind)
{
  Json properties = Json::object();
  Json required = Json::array();
  for (const std::string& name : table.names(kind)) {
    const Key& key = *table.find(name, kind);
    Json property = name == "kind" && !kind.empty() ? Json{{"const", kind}} : value_schema(key);
    property["description"] = described(key);
    if (!key.fallback.empty()) property["default"] = default_of(key);
    properties[name] = std::move(property);
    if (key.required) required.push_back(name);
  }
  Json schema = named("object");
  schema["properties"] = std::move(properties);
  if (!required.empty()) schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  return schema;
}

Json schema_of(const Table& table)
{
  if (table.kinds().empty()) return mapping_schema(table, {});
  Json schema;
  schema["oneOf"] = Json::array();
  for (const std::string& kind : table.kinds())
    schema["oneOf"].push_back(mapping_schema(table, kind));
  return schema;
}

} // namespace

std::string json_schema()
{
  Json schema;
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "rdmalab lab file, version 1";
  const Json lab = schema_of(lab_table());
  for (const auto& [key, value] : lab.items()) schema[key] = value;
  return schema.dump(2) + "\n";
}

} // namespace rdmalab::lab
