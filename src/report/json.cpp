#include "report/json.h"

#include "base/json.h"

namespace rdmalab::report {
namespace {

std::string text(const Json& json, bool pretty)
{
  // dump() writes null for what is not finite.
  return json.dump(pretty ? 2 : -1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

std::string json(const analysis::Result& result, bool pretty)
{
  return text(Json(result), pretty);
}

std::string json(const analysis::Comparison& comparison, bool pretty)
{
  return text(Json(comparison), pretty);
}

} // namespace rdmalab::report
