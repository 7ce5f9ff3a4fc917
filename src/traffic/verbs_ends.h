#pragma once

#include "traffic/verbs_link.h"
#include "traffic/worker.h"

#include <memory>

namespace rdmalab::traffic {

/// The end that posts the work, over a link that has joined its peer. Both ends have their buffers
/// ready when these return, by deadline_ns (CLOCK_MONOTONIC).
Result<std::unique_ptr<Worker>> make_initiator(const EndpointSpec& spec, VerbsLink link,
                                               std::uint64_t deadline_ns);

/// The end whose memory is written or read, or that receives.
Result<std::unique_ptr<Worker>> make_target(const EndpointSpec& spec, VerbsLink link,
                                            std::uint64_t deadline_ns);

/// An initiator that sends nothing, but registers memory.
Result<std::unique_ptr<Worker>> make_registrar(const EndpointSpec& spec, VerbsLink link,
                                               std::uint64_t deadline_ns);

/// An end that never got connected: it says why, if that is not ok, and waits for the window's end.
std::unique_ptr<Worker> make_unconnected(const EndpointSpec& spec, VerbsLink link, Status why);

} // namespace rdmalab::traffic
