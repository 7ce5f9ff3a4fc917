#include "analysis/kinds.h"

#include "base/json.h"

namespace rdmalab::analysis {

std::string kind_name(lab::TrafficKind kind)
{
  return Json(kind).get<std::string>();
}

std::string kind_name(lab::FaultKind kind)
{
  return Json(kind).get<std::string>();
}

} // namespace rdmalab::analysis
