#include "base/json.h"

namespace rdmalab {

Result<Json> parse_json(std::string_view text, const std::string& what)
{
  try {
    return Json::parse(text);
  } catch (const Json::exception& e) {
    return Error{Exit::usage, "parse " + what + ": " + e.what(), 0, {}, {}};
  }
}

std::string to_text(const Json& json, int indent)
{
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

} // namespace rdmalab
