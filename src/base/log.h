#pragma once

#include "base/result.h"

#include <spdlog/spdlog.h>

namespace rdmalab {

/// Points spdlog at stderr: level and message, colours on a terminal unless NO_COLOR is set.
/// `verbosity`: -1 quiet (warnings only), 0 info, 1 debug, 2 trace.
void setup_log(int verbosity);

/// "error: …" and, on a line of its own, "hint: …".
void log_error(const Error& error);

} // namespace rdmalab
