#pragma once

#include "traffic/endpoint.h"

#include <memory>

namespace rdmalab::traffic {

/// One end of one kind of traffic, within its process. Made connected; then run once.
class Worker {
public:
  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  virtual ~Worker() = default;

  /// By QP or stream, in order of creation.
  [[nodiscard]] virtual std::vector<StreamId> streams() const = 0;

  /// Drives the traffic until everything is delivered or given up; bounded by the schedule and
  /// drain_budget_ns(). A broken transport is told in Flow::outcome; an Error means that this end
  /// could not do its part.
  virtual Result<record::Flow> run(const Schedule& schedule) = 0;
};

/// Connects to the peer, until deadline_ns (CLOCK_MONOTONIC).
Result<std::unique_ptr<Worker>> make_verbs_worker(const EndpointSpec& spec,
                                                  std::uint64_t deadline_ns);
Result<std::unique_ptr<Worker>> make_tcp_worker(const EndpointSpec& spec,
                                                std::uint64_t deadline_ns);

/// Its programs start with the schedule.
Result<std::unique_ptr<Worker>> make_command_worker(const EndpointSpec& spec);

} // namespace rdmalab::traffic
