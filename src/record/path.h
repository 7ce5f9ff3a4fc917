#pragma once

#include "base/json_fwd.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// The ordinary path, counted: what the path ledger (src/measure/path.h) saw in the measuring
/// window. docs/measures.md defines stages and counts.
namespace rdmalab::record {

/// One host's part.
struct PathHost {
  std::string host;
  /// Own ns of each stage: "application", "syscall", "copy", "checksum", "stack", "rxe", "device",
  /// "softirq", "wakeup", "scheduler". All that the ledger could see is there, 0 included; a stage
  /// with a missing point is not.
  std::map<std::string, std::uint64_t> stage_ns;
  std::uint64_t borders = 0;                     ///< stretches that ended: the ledger charged one
  std::map<std::string, std::uint64_t> syscalls; ///< of endpoints, by name
  std::uint64_t wakeups = 0;                     ///< tasks that this host's code woke
  std::uint64_t switches = 0;                    ///< to an endpoint or an rxe worker of this host
  std::uint64_t work_items = 0;                  ///< of rxe
  std::uint64_t softirqs = 0;    ///< handler runs whose first packet was this host's
  std::uint64_t packets_in = 0;  ///< that reached its stack
  std::uint64_t packets_out = 0; ///< that it gave to its device
  std::uint64_t copies_in = 0;   ///< of payload, user memory to the kernel's
  std::uint64_t copied_in = 0;   ///< bytes
  std::uint64_t copies_out = 0;
  std::uint64_t copied_out = 0;
  std::uint64_t checksums = 0; ///< ICRCs made or checked
  std::uint64_t task_ns = 0;   ///< what the scheduler says that the endpoints ran
  std::uint64_t stolen_ns = 0; ///< softirqs and interrupts in it, which the book leaves out
  std::uint64_t waited_ns = 0; ///< and the way from wake-ups while idle to the endpoint
};
RDMALAB_JSON_DECLARE(PathHost)

/// Frames of about one size between two hosts' ports: from the sender's device to the receiver's
/// stack. One frame at a time was timed, from the start of traffic on: the first ones find the way
/// free.
struct PathWire {
  std::string to;           ///< the receiver
  std::uint64_t frames = 0; ///< timed
  std::uint64_t bytes = 0;  ///< of these frames
  std::uint64_t ns = 0;     ///< all of them together, queueing included
  std::uint64_t min_ns = 0; ///< the fastest: nothing was before it in the queue
};
RDMALAB_JSON_DECLARE(PathWire)

struct Path {
  std::vector<PathHost> hosts;      ///< the fabric has none: its time is the wire's
  std::vector<PathWire> wire;       ///< by receiver and size of frame, in classes of 512 B
  std::uint64_t interrupts = 0;     ///< hard interrupts of the machine: timers; a veth has none
  std::uint64_t unbalanced = 0;     ///< ends of stages that fitted no beginning
  std::vector<std::string> missing; ///< functions that could not be traced
};
RDMALAB_JSON_DECLARE(Path)

} // namespace rdmalab::record
