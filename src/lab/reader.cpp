#include "lab/reader.h"

#include "lab/suggest.h"

#include <algorithm>
#include <cassert>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::lab {
namespace {

bool contains(const std::vector<std::string>& words, std::string_view word)
{
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// A NIC's limit is worth another sentence than ours: IB_PORT_MAX_MSG_SZ of rxe (rxe_param.h) is
/// 2^31.
constexpr std::uint64_t rxe_max_message = 1ULL << 31;

std::string out_of_range(const Key& key, std::uint64_t value)
{
  const std::string written = format_quantity(key.type, value);
  if (key.type == Type::bytes && value > rxe_max_message)
    return fmt::format("{} {} is larger than the device allows", key.name, written);
  return fmt::format("{} {} is out of range", key.name, written);
}

} // namespace

bool is_name(std::string_view text)
{
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (text.empty() || text.size() > 32 || !letter(text.front())) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

Reader::Reader(const Node& node, const Table& table, Diagnostics& out)
    : node_(node), table_(table), out_(out)
{
  if (!node_.mapping()) {
    out_.add(node_, fmt::format("{} is a mapping, not {}", table_.what, describe(node_)),
             "its keys: " + join(table_.all_names()));
    return;
  }
  read_kind();
  check_keys();
  check_required();
}

Reader::~Reader()
{
  if (!node_.mapping()) return;
  for ([[maybe_unused]] const std::string& name : table_.names(kind_))
    assert((name == "kind" || asked_.contains(name)) &&
           "a key of the table that the parser does not read");
}

const Node* Reader::value_of(std::string_view name) const
{
  for (std::size_t i = 0; i < node_.keys.size(); ++i)
    if (node_.keys[i].text == name && node_.keys[i].scalar()) return &node_.items[i];
  return nullptr;
}

const Node& Reader::place(std::string_view name) const
{
  const Node* value = value_of(name);
  return value != nullptr ? *value : node_;
}

void Reader::read_kind()
{
  const std::vector<std::string> known = table_.kinds();
  const Node* value = value_of("kind");
  if (known.empty() || value == nullptr) return;
  if (value->scalar() && contains(known, value->text))
    kind_ = value->text;
  else
    out_.add(*value,
             fmt::format("unknown kind {}{}", describe(*value), did_you_mean(value->text, known)),
             "kinds: " + join(known));
}

void Reader::check_keys()
{
  const std::vector<std::string> known = kind_.empty() ? table_.all_names() : table_.names(kind_);
  std::set<std::string> seen;
  for (const Node& key : node_.keys) {
    if (!key.scalar()) {
      out_.add(key, fmt::format("a key is a word, not {}", describe(key)),
               "keys here: " + join(known));
      continue;
    }
    if (!seen.insert(key.text).second) {
      out_.add(key, fmt::format("key \"{}\" stands here twice", key.text), "remove one of the two");
      continue;
    }
    if (contains(known, key.text)) continue;
    if (!kind_.empty() && contains(table_.all_names(), key.text)) {
      std::vector<std::string> owners;
      for (const std::string& kind : table_.kinds())
        if (table_.find(key.text, kind) != nullptr) owners.push_back(kind);
      out_.add(key,
               fmt::format("\"{}\" is a key of kind {}, not of {}", key.text, join(owners), kind_),
               fmt::format("keys of kind {}: {}", kind_, join(known)));
    } else {
      out_.add(key,
               fmt::format("unknown key \"{}\" in {}{}", key.text, table_.what,
                           did_you_mean(key.text, known)),
               "keys here: " + join(known));
    }
  }
}

void Reader::check_required()
{
  for (const std::string& name : table_.names(kind_)) {
    const Key& key = *table_.find(name, kind_);
    if (!key.required || value_of(name) != nullptr) continue;
    const std::string of =
        kind_.empty() ? table_.what : fmt::format("{} of kind {}", table_.what, kind_);
    out_.add(node_, fmt::format("{} has no \"{}\"", of, name),
             fmt::format("{}: {}", name, key.help));
  }
}

const Key* Reader::ask(std::string_view name)
{
  asked_.emplace(name);
  const Key* key = table_.find(name, kind_);
  assert((key != nullptr || !node_.mapping() || (kind_.empty() && !table_.kinds().empty())) &&
         "the parser reads a key that is not in the table");
  return key;
}

std::optional<std::uint64_t> read_number(const Node& node, const Key& key, Diagnostics& out)
{
  if (!node.scalar()) {
    out.add(node, fmt::format("{} takes a value, not {}", key.name, describe(node)), key.help);
    return std::nullopt;
  }
  if (key.type == Type::integer && !key.choices.empty() && !contains(key.choices, node.text)) {
    out.add(node, fmt::format("{} {} is not allowed", key.name, node.text),
            "allowed: " + join(key.choices));
    return std::nullopt;
  }
  const auto parsed = parse_quantity(key.type, node.text);
  if (const auto* error = std::get_if<QuantityError>(&parsed)) {
    out.add(node, key.name + ": " + error->message, error->hint);
    return std::nullopt;
  }
  const std::uint64_t value = std::get<std::uint64_t>(parsed);
  if (value < key.min || value > key.max) {
    out.add(node, out_of_range(key, value),
            fmt::format("allowed: {} to {}", format_quantity(key.type, key.min),
                        format_quantity(key.type, key.max)));
    return std::nullopt;
  }
  return value;
}

std::optional<std::uint64_t> Reader::number(std::string_view name)
{
  const Key* key = ask(name);
  const Node* value = value_of(name);
  if (key == nullptr || value == nullptr) return std::nullopt;
  return read_number(*value, *key, out_);
}

std::optional<std::string> Reader::text(std::string_view name)
{
  const Key* key = ask(name);
  const Node* value = value_of(name);
  if (key == nullptr || value == nullptr) return std::nullopt;
  if (!value->scalar()) {
    out_.add(*value, fmt::format("{} takes text, not {}", name, describe(*value)), key->help);
    return std::nullopt;
  }
  if (key->type == Type::name && !is_name(value->text)) {
    out_.add(*value, fmt::format("{} \"{}\" is no name", name, value->text),
             "a name is a letter and then at most 31 letters, digits, - and _");
    return std::nullopt;
  }
  if (key->type == Type::choice && !contains(key->choices, value->text)) {
    out_.add(*value,
             fmt::format("{} \"{}\" is not known{}", name, value->text,
                         did_you_mean(value->text, key->choices)),
             "allowed: " + join(key->choices));
    return std::nullopt;
  }
  return value->text;
}

std::optional<bool> Reader::flag(std::string_view name)
{
  const Key* key = ask(name);
  const Node* value = value_of(name);
  if (key == nullptr || value == nullptr) return std::nullopt;
  if (value->scalar() && (value->text == "on" || value->text == "true")) return true;
  if (value->scalar() && (value->text == "off" || value->text == "false")) return false;
  out_.add(*value, fmt::format("{} is on or off, not {}", name, describe(*value)), key->help);
  return std::nullopt;
}

const Node* Reader::child(std::string_view name)
{
  ask(name);
  return value_of(name);
}

} // namespace rdmalab::lab
