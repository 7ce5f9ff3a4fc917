#pragma once

#include "base/fd.h"
#include "traffic/endpoint.h"

#include <sys/types.h>

namespace rdmalab::traffic {

/// What runs in an endpoint's process after the fork: enters the namespace, connects, says `ready`,
/// waits for the schedule, drives the traffic, reports, exits. Never returns; dies when `parent`
/// does.
///
/// Control messages (JSON objects with one key): to the controller {"ready": {}}, {"report": Flow},
/// {"error": {exit, attempted, errno, hint}}; from it {"schedule": Schedule}.
[[noreturn]] void run_child(const EndpointSpec& spec, pid_t parent, Fd control);

} // namespace rdmalab::traffic
