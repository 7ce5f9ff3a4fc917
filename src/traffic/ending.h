#pragma once

#include "base/result.h"
#include "record/record.h"

#include <cstring>
#include <string>

namespace rdmalab::traffic {

/// "EINVAL"; "" for 0.
inline std::string errno_name(int number)
{
  const char* name = number == 0 ? nullptr : ::strerrorname_np(number);
  return name == nullptr ? std::string() : std::string(name);
}

/// Says how a traffic ended, in words and by the names of Flow::failed_step and Flow::failure. Only
/// the first failure counts: what follows is its consequence.
inline void end_with(record::Flow& flow, const char* step, std::string failure, std::string words)
{
  if (flow.outcome != "ok") return;
  flow.outcome = std::move(words);
  flow.failed_step = step;
  flow.failure = std::move(failure);
}

inline void end_with(record::Flow& flow, const char* step, const Error& error)
{
  const bool late = error.number == 0 && error.exit == Exit::timeout;
  end_with(flow, step, late ? "ETIMEDOUT" : errno_name(error.number), error.message());
}

} // namespace rdmalab::traffic
