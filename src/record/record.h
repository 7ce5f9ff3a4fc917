#pragma once

#include "base/json_fwd.h"
#include "base/netem.h"
#include "lab/lab.h"
#include "record/histogram.h"
#include "record/path.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// A Record is what an engine measured, before anything is concluded from it. A passive value: JSON
/// both ways. All times in it are relative to the cell's measuring window or are durations, so that
/// equal runs give equal bytes.
namespace rdmalab::record {

/// Bytes delivered to the application and acknowledged, between the two instants of the measuring
/// window.
struct Flow {
  std::string traffic;
  std::string outcome =
      "ok";                ///< or what broke, in words: "send completion 3: IBV_WC_RETRY_EXC_ERR"
  std::string failed_step; ///< what failed first: "connect", "post", "completion", "drain", "peer",
                           ///< "exit" (of a program), "stream" (of TCP); "": nothing
  std::string failure;     ///< its name: "IBV_WC_RETRY_EXC_ERR", an errno's such as "EINVAL"; or ""
  std::uint64_t window_ns = 0;
  std::uint64_t bytes = 0;       ///< delivered within the window
  std::uint64_t messages = 0;    ///< delivered within the window
  std::uint64_t total_bytes = 0; ///< delivered from start to stop
  std::uint64_t total_messages = 0;
  std::uint64_t sent_messages = 0; ///< handed to the transport by the sender (verbs)
  std::uint64_t checked_messages =
      0; ///< of total_messages, whose whole payload was compared at the receiver
  std::uint64_t corrupt_messages = 0;          ///< of checked_messages, with a wrong byte
  std::vector<std::uint64_t> bytes_per_stream; ///< per QP or TCP stream, within the window
  std::map<std::string, std::uint64_t>
      completions; ///< work completion status name to count (verbs)
  std::map<std::string, std::string>
      qp_states; ///< at the end of traffic: "client 0" to "RTS", by ibv_query_qp(3) (verbs)
  std::map<std::string, std::uint64_t>
      setup_ns; ///< at the initiator: "register", "qp", "exchange", "rts" or "cm" (verbs)
  std::map<std::string, std::uint64_t>
      tcp_info;               ///< selected fields of tcp_info, summed over streams (tcp); with
                              ///< MSG_ZEROCOPY also "zerocopy_sends" and, of these, those whose
                              ///< completion says that the kernel copied, "zerocopy_copied"
  std::uint32_t path_mtu = 0; ///< IB path MTU or TCP MSS in force, bytes
  std::map<std::string, std::string>
      output; ///< of a command: "client", "server" to what they printed
  std::optional<std::uint64_t>
      figure;        ///< of a command, read off its client's output: bits/s, ns or a count
  Histogram latency; ///< ns per message delivered within the window
};
RDMALAB_JSON_DECLARE(Flow)

/// CPU time of one host within the window, ns of CPU (real clock) or instructions (virtual clock).
struct Cpu {
  std::string host;              ///< or "fabric", for softirq work done in the fabric's namespace
  std::uint64_t app_user_ns = 0; ///< endpoint processes, in user mode
  std::uint64_t app_system_ns =
      0; ///< endpoint processes, in the kernel, without softirq that ran on their back
  std::uint64_t rxe_ns = 0;     ///< work items of rdma_rxe on the workqueue rxe_wq
  std::uint64_t softirq_ns = 0; ///< softirq time spent on packets of this namespace

  [[nodiscard]] std::uint64_t all_ns() const
  {
    return app_user_ns + app_system_ns + rxe_ns + softirq_ns;
  }
  /// The same host's time in another window.
  Cpu& operator+=(const Cpu& other)
  {
    app_user_ns += other.app_user_ns;
    app_system_ns += other.app_system_ns;
    rxe_ns += other.rxe_ns;
    softirq_ns += other.softirq_ns;
    return *this;
  }
};
RDMALAB_JSON_DECLARE(Cpu)

/// Counter differences over the window: rxe's hw_counters and the veth's statistics.
struct Counters {
  std::string host;
  std::map<std::string, std::uint64_t> rdma;
  std::map<std::string, std::uint64_t> device;
};
RDMALAB_JSON_DECLARE(Counters)

/// What one netem did, from the moment the condition was applied to the end of traffic.
struct Impairment {
  std::string host;
  bool up = false;
  Netem requested;
  Netem applied;                     ///< read back from the kernel
  bool applied_as_requested = false; ///< equal but for the kernel's rounding
  std::uint64_t packets = 0;         ///< that left the qdisc
  std::uint64_t bytes = 0;
  std::uint64_t dropped = 0;    ///< by the loss model
  std::uint64_t overflowed = 0; ///< by the queue's limit
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t corrupted = 0;
  std::uint64_t delayed = 0;
  bool exact = false; ///< the counts per impairment come from tc_netem_xstats
};
RDMALAB_JSON_DECLARE(Impairment)

/// How a QP or TCP stream is known on the wire: what a trace is read by.
struct Stream {
  std::string traffic;
  std::uint32_t index = 0; ///< within the traffic, in order of creation
  std::string from;        ///< the host that posts, or connects and sends
  std::string to;
  std::uint32_t from_qp = 0; ///< QP numbers and the first PSNs of requests; 0 for TCP
  std::uint32_t to_qp = 0;
  std::uint32_t from_psn = 0;
  std::uint32_t to_psn = 0;
  std::uint16_t from_port = 0; ///< TCP's, 0 for verbs
  std::uint16_t to_port = 0;
};
RDMALAB_JSON_DECLARE(Stream)

/// What one rule of the lab did, from the start of traffic to its end.
struct RuleCount {
  std::string rule;
  std::uint64_t matched = 0; ///< packets that everything but `every` and the dice held for
  std::uint64_t fired = 0;
  std::uint64_t held = 0; ///< of those fired, packets still waiting for others to pass them
};
RDMALAB_JSON_DECLARE(RuleCount)

/// One packet that a rule hit. Times count from the start of traffic.
struct Firing {
  std::string rule;
  std::uint64_t time_ns = 0;
  std::uint32_t stream = 0;       ///< index into Cell::streams
  std::string packet_class;       ///< "data", "nak", "tcp-data" … (fault/ledger.h)
  std::uint64_t number = 0;       ///< PSN after the first, or TCP payload byte
  std::uint32_t transmission = 0; ///< 1: the packet's first; 0: nobody counted
  std::uint32_t bytes = 0;        ///< of the frame
};
RDMALAB_JSON_DECLARE(Firing)

/// Packets of one class from one host to another. They must close: sent − dropped + duplicated =
/// passed, and what passed and did not arrive was taken by a netem.
struct ClassCount {
  std::string from;
  std::string to;
  std::string packet_class;
  std::uint64_t sent = 0;       ///< entered the fabric
  std::uint64_t dropped = 0;    ///< by rules
  std::uint64_t duplicated = 0; ///< by rules
  std::uint64_t passed = 0;     ///< on to the receiver's port
  std::uint64_t arrived = 0;
};
RDMALAB_JSON_DECLARE(ClassCount)

/// The packet trace that Cell::trace holds, so that the digest covers it.
struct TraceInfo {
  std::uint64_t packets = 0;
  std::uint64_t lost = 0; ///< packets that found no room in the buffer
  std::uint64_t bytes = 0;
  std::string digest; ///< SHA-256; "" without a trace
};
RDMALAB_JSON_DECLARE(TraceInfo)

struct Cell {
  std::string id;
  std::vector<std::string> traffic;
  std::string condition; ///< "baseline", "faulted" or "path": a baseline with the path ledger
  std::uint32_t repeat = 0;
  std::uint64_t seed = 0;
  std::uint64_t window_ns = 0;
  std::uint64_t busy_ns =
      0; ///< CPU time in the window that was not idle, of all CPUs; window_ns * cpus: all busy
  std::uint32_t cpus = 1;
  std::vector<Flow> flows;
  std::vector<Cpu> cpu;
  std::optional<Path> path; ///< only under the condition "path"
  std::vector<Counters> counters;
  std::vector<Impairment> impairments;
  std::map<std::string, std::string>
      offloads;                 ///< "client eth0" to the offloads that are on, "" for none
  std::vector<Stream> streams;  ///< only with rules or a trace; so the next three
  std::vector<RuleCount> rules; ///< in the lab's order
  std::vector<Firing> firings;  ///< the first 4096
  std::vector<ClassCount> packets;
  TraceInfo trace_info;
  std::string trace;                   ///< pcapng; not in the JSON
  std::vector<std::string> problems;   ///< why this cell proves nothing; empty: it does
  std::vector<std::string> kernel_log; ///< warnings and worse, without time stamps
};
RDMALAB_JSON_DECLARE(Cell)

struct Environment {
  std::string engine;      ///< "host" or "vm"
  std::string clock;       ///< "real" or "virtual"
  std::string accelerator; ///< "none", "kvm", "tcg"
  std::string kernel;      ///< release of the kernel that did the work
  std::string qemu;        ///< version, "" without a guest
  std::string rdmalab;
  std::string snapshot; ///< digest of the guest's snapshot, "" without one
  std::string start;    ///< how the guests started: "snapshot", "boot", "none"
};
RDMALAB_JSON_DECLARE(Environment)

/// Wall time around the run; not part of the digest.
struct Timing {
  double wall_seconds = 0;
  double first_packet_seconds =
      0; ///< from QEMU's start to the first payload packet, of the slowest cell
};
RDMALAB_JSON_DECLARE(Timing)

struct Record {
  std::uint32_t version = 1;
  lab::Lab lab;
  Environment environment;
  Timing timing;
  std::vector<Cell> cells; ///< in the plan's order
};
RDMALAB_JSON_DECLARE(Record)

/// SHA-256 over the lab and the cells: what was asked and what was measured, without the machine
/// around it.
std::string digest(const Record& record);

} // namespace rdmalab::record
