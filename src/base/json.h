#pragma once

#include "base/json_fwd.h"
#include "base/result.h"

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace rdmalab {

/// Parses JSON text; `what` names it in the error.
Result<Json> parse_json(std::string_view text, const std::string& what);

/// JSON as text, on one line or indented. What is no UTF-8 (a kernel's log line, a program's
/// output) becomes U+FFFD, and a figure that is no number null: dump() alone would throw.
std::string to_text(const Json& json, int indent = -1);

/// Converts JSON to a value; a wrong type is an Error that names `what`, not an exception.
template <typename T> Result<T> from_json_value(const Json& json, const std::string& what)
{
  try {
    return json.get<T>();
  } catch (const Json::exception& e) {
    return Error{Exit::usage, "read " + what + ": " + e.what(), 0, {}, {}};
  }
}

} // namespace rdmalab

/// std::optional: null when it is empty.
template <typename T> struct nlohmann::adl_serializer<std::optional<T>> {
  template <typename J> static void to_json(J& json, const std::optional<T>& value)
  {
    if (value)
      json = *value;
    else
      json = nullptr;
  }
  template <typename J> static void from_json(const J& json, std::optional<T>& value)
  {
    if (json.is_null())
      value.reset();
    else
      value = json.template get<T>();
  }
};

/// RDMALAB_JSON(Type, field, ...), in a .cpp: JSON both ways for a passive struct; missing keys
/// keep their defaults.
#define RDMALAB_JSON(Type, ...)                                                                    \
  void to_json(::rdmalab::Json& nlohmann_json_j, const Type& nlohmann_json_t)                      \
  {                                                                                                \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, __VA_ARGS__))                       \
  }                                                                                                \
  void from_json(const ::rdmalab::Json& nlohmann_json_j, Type& nlohmann_json_t)                    \
  {                                                                                                \
    const Type nlohmann_json_default_obj{};                                                        \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_FROM_WITH_DEFAULT, __VA_ARGS__))        \
  }

/// RDMALAB_JSON_ENUM(Type, {{Type::a, "a"}, …}), in a .cpp: an enum as text. An unknown text is the
/// JSON library's error.
#define RDMALAB_JSON_ENUM(Type, ...)                                                               \
  namespace {                                                                                      \
  constexpr std::pair<Type, const char*> Type##_names[] = __VA_ARGS__;                             \
  }                                                                                                \
  void to_json(::rdmalab::Json& json, const Type& value)                                           \
  {                                                                                                \
    for (const auto& [known, name] : Type##_names)                                                 \
      if (known == value) json = name;                                                             \
  }                                                                                                \
  void from_json(const ::rdmalab::Json& json, Type& value)                                         \
  {                                                                                                \
    const auto text = json.get<std::string>();                                                     \
    for (const auto& [known, name] : Type##_names)                                                 \
      if (text == name) {                                                                          \
        value = known;                                                                             \
        return;                                                                                    \
      }                                                                                            \
    throw ::rdmalab::Json::other_error::create(501, "unknown " #Type " " + text, &json);           \
  }
