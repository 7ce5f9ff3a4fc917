#pragma once

#include "base/result.h"

namespace rdmalab::traffic {

/// setsockopt(2) of a number; `name` is the option's, for the error.
Status set_option(int fd, int level, int option, int value, const char* name);

} // namespace rdmalab::traffic
