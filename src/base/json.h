#pragma once

#include "base/result.h"

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace rdmalab {

/// JSON whose keys keep their order, so that equal values give equal bytes.
using Json = nlohmann::ordered_json;

/// Parses JSON text; `what` names it in the error.
Result<Json> parse_json(std::string_view text, const std::string& what);

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

/// RDMALAB_JSON(Type, field, ...): JSON both ways for a passive struct; missing keys keep their
/// defaults.
#define RDMALAB_JSON(Type, ...)                                                                    \
  inline void to_json(::rdmalab::Json& nlohmann_json_j, const Type& nlohmann_json_t)               \
  {                                                                                                \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, __VA_ARGS__))                       \
  }                                                                                                \
  inline void from_json(const ::rdmalab::Json& nlohmann_json_j, Type& nlohmann_json_t)             \
  {                                                                                                \
    const Type nlohmann_json_default_obj{};                                                        \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_FROM_WITH_DEFAULT, __VA_ARGS__))        \
  }
