#pragma once

#include <nlohmann/json_fwd.hpp>

namespace rdmalab {

/// JSON whose keys keep their order, so that equal values give equal bytes. Include base/json.h to
/// use it.
using Json = nlohmann::ordered_json;

} // namespace rdmalab

/// RDMALAB_JSON_DECLARE(Type): the value reads and writes JSON; RDMALAB_JSON or RDMALAB_JSON_ENUM
/// in its .cpp says how. Kept apart because the JSON library is by far the slowest thing to compile
/// here.
#define RDMALAB_JSON_DECLARE(Type)                                                                 \
  void to_json(::rdmalab::Json& json, const Type& value);                                          \
  void from_json(const ::rdmalab::Json& json, Type& value);
