#pragma once

#include "base/result.h"
#include "fault/flow.h"
#include "fault/hold.h"
#include "fault/ledger.h"
#include "fault/rule.h"
#include "fault/trace.h"
#include "wire/address.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rdmalab::fault {

/// What is fixed once the programs are loaded.
struct Options {
  std::uint64_t trace_bytes = 64ULL << 20; ///< of the trace's buffer, 0: no trace
  std::uint32_t snap = 128;             ///< bytes kept of a frame, at most 9216; rounded up to 64
  std::uint32_t firings = 65536;        ///< kept one by one
  std::uint32_t transmissions = 262144; ///< packets whose transmissions can be counted
  bool tcx = true;                      ///< where the kernel has it; false: clsact, for tests
};

/// What one packet at one point takes of it.
std::uint64_t trace_record_bytes(std::uint32_t snap);

/// A host and its port of the fabric.
struct Port {
  std::string host;                 ///< name
  std::uint32_t ifindex = 0;        ///< of the port, in the fabric's namespace
  std::string netns_path;           ///< of the host's namespace
  std::uint32_t device_ifindex = 0; ///< of its device there
  std::vector<wire::IpAddress> addresses;
  /// Whether the port's ingress has filters that must see the packet after us, as the redirection
  /// to an ifb. If no port has, the kernel need not look for them.
  bool filters_follow = true;
};

enum class Program : std::uint8_t { entered, port_out, arrived, release_held };

/// The fault programs in the kernel and their books. load(), attach() (from then on every packet is
/// counted), set_rules(), set_flows() as soon as the flows are known, arm() when all is quiet,
/// traffic, disarm(), and when all is quiet again ledger() and take_trace(). Move-only; not
/// thread-safe.
class Programs {
public:
  /// Needs no device. A program that the kernel's verifier refuses is an Error with Exit::setup
  /// whose hint has the verifier's last lines.
  static Result<Programs> load(const Options& options = {});

  /// Attaches to all ports and devices; at most 32 hosts. `fabric_path`: of the fabric's namespace.
  Status attach(const std::string& fabric_path, const std::vector<Port>& ports);
  /// Takes the programs off again; also when the object dies. Devices may be gone before.
  void detach();
  /// Whether all are attached by tcx; otherwise by clsact.
  [[nodiscard]] bool by_tcx() const;

  /// Rules in the lab's order, and the lab's seed; an Error of Exit::usage for one that can't be.
  /// They act from the next arm() on. A rule that delays makes the hold device, for which it needs
  /// attach() before.
  Status set_rules(const std::vector<Rule>& rules, std::uint64_t seed);
  /// The flows, at most 256, by which rules name them; TCP streams may have begun before, if the
  /// programs saw their SYN.
  Status set_flows(const std::vector<FlowKey>& flows);

  /// Clears all books and the trace and starts: times count from `start_ns` (CLOCK_MONOTONIC).
  /// Packets on their way now would be missing in the sums.
  Status arm(std::uint64_t start_ns, bool trace = true);
  /// Rules act no more and nothing is traced; packets are still counted, so that the sums close.
  /// What is held back stays held.
  void disarm();

  /// The books as they are now.
  Result<Ledger> ledger() const;
  /// The trace so far, undecoded.
  Result<RawTrace> raw_trace() const;
  /// The same with the names of hosts and rules.
  Result<CapturedTrace> take_trace() const;

  /// Instructions of a program: as loaded, and bytes as compiled for the CPU.
  struct Size {
    std::uint32_t instructions = 0;
    std::uint32_t compiled_bytes = 0;
  };
  Result<Size> size(Program program) const;

  /// For tests: the hosts without attaching, a hold device's index, a program's descriptor.
  Status set_hosts(const std::vector<Port>& ports);
  void use_hold(std::uint32_t ifindex);
  [[nodiscard]] int descriptor(Program program) const;
  /// Which queue the hold device gets; for tests on a kernel without fq.
  void hold_queue(Hold::Queue queue);

  Programs(Programs&&) noexcept;
  Programs& operator=(Programs&&) noexcept;
  ~Programs();

private:
  struct State;
  explicit Programs(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace rdmalab::fault
