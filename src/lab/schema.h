#pragma once

#include <string>

namespace rdmalab::lab {

/// A JSON Schema (draft 2020-12) of the lab file, for editors; written from the tables of
/// lab/keys.h, which the parser reads by. It covers keys, types, units and choices; what depends on
/// several values only the parser knows.
std::string json_schema();

} // namespace rdmalab::lab
