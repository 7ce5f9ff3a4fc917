#pragma once

#include "base/json_fwd.h"
#include "base/result.h"
#include "plan/plan.h"
#include "record/record.h"

#include <string>

/// What host and guest say to each other: JSON text in the channel.
namespace rdmalab::engine {

/// One cell to execute.
struct Request {
  plan::Plan plan; ///< with exactly one cell
};
RDMALAB_JSON_DECLARE(Request)

std::string encode(const Request& request);
Result<Request> decode_request(const std::string& text);

/// The cell's record, or the Error that kept it from being made. The trace is not in it, since it
/// would be copied: if there is one, it follows behind a zero byte.
std::string encode(const record::Cell& response);
std::string encode(const Error& response);
/// With the trace as a pcapng file.
Result<record::Cell> decode_response(const std::string& text);

} // namespace rdmalab::engine
