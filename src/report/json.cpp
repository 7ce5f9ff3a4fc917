#include "report/json.h"

#include "base/json.h"

namespace rdmalab::report {

std::string json(const analysis::Result& result, bool pretty)
{
  return to_text(Json(result), pretty ? 2 : -1) + "\n";
}

std::string json(const analysis::Comparison& comparison, bool pretty)
{
  return to_text(Json(comparison), pretty ? 2 : -1) + "\n";
}

} // namespace rdmalab::report
