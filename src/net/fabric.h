#pragma once

#include "base/netem.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace rdmalab::net {

/// A host of the lab in kernel names.
struct HostSpec {
  std::string name;   ///< the lab's
  std::string netns;  ///< "" for a namespace without a name
  std::string device; ///< veth end in the host
  std::string port;   ///< veth end in the fabric
  std::string rdma;   ///< RDMA device, "" for none
  std::string mac;
  std::string ip;
  std::uint8_t prefix = 24;
  std::string rdma_type = "rxe"; ///< of the RDMA link: "rxe" or "siw"
};

/// A netem in the fabric: at the egress of the host's port, or with `up` on an ifb behind the
/// port's ingress.
struct ShaperSpec {
  std::string host;
  bool up = false;
  std::string device; ///< the port, or the ifb that is to be made
  Netem unfaulted;
  Netem faulted;
};

struct FabricSpec {
  std::string netns; ///< "" for a namespace without a name
  std::string bridge = "br0";
  std::uint32_t mtu = 1500;
  bool offloads = false; ///< leave TSO, GSO and GRO as they are
  std::vector<HostSpec> hosts;
  std::vector<ShaperSpec> shapers;
};

/// What was asked of one netem and what the kernel then said it does.
struct AppliedNetem {
  std::string host;
  bool up = false;
  Netem requested;           ///< with the seed that this netem got
  Netem applied;             ///< read back
  bool as_requested = false; ///< equal but for the kernel's units and for parameters without effect
};

/// What one netem did since the last apply().
struct ImpairmentCounts {
  std::string host;
  bool up = false;
  std::uint64_t packets = 0; ///< that left it
  std::uint64_t bytes = 0;
  std::uint64_t dropped = 0; ///< by the loss model
  /// By the queue's limit. With loss and duplication at once a lower bound: the kernel counts the
  /// loss of one of two copies as lost, but not as a drop.
  std::uint64_t overflowed = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t corrupted = 0;
  std::uint64_t delayed = 0;
  std::uint64_t queued = 0; ///< packets inside it now
  /// The counts per impairment are the kernel's own (tc_netem_xstats). Otherwise `dropped` holds
  /// all drops if there is a loss model, `overflowed` if there is none, and the others are 0.
  bool exact = false;
};

/// Counters of a host by the kernel's names: rxe's hw_counters (siw counts nothing), the veth's
/// rtnl_link_stats64.
struct HostCounters {
  std::map<std::string, std::uint64_t> rdma;
  std::map<std::string, std::uint64_t> device;
};

/// The whole network of a lab in this kernel: a namespace per host, one for the fabric with its
/// bridge, a veth per host, static addresses, neighbours and forwarding entries, offloads off,
/// netems, RDMA devices. Undone in reverse when it dies: all RDMA devices, then all links, then all
/// namespaces. Move-only; not thread-safe.
class Fabric {
public:
  /// Builds it; on an Error what was built is gone again. All netems have their unfaulted
  /// parameters, every host's device can transmit and has no queue of its own.
  static Result<Fabric> build(const FabricSpec& spec);

  /// Gives all netems their parameters and seeds derived from `seed` (each its own), keeps what is
  /// queued, and reads back. In the order of FabricSpec::shapers.
  Result<std::vector<AppliedNetem>> apply(bool faulted, std::uint64_t seed);
  /// In the order of FabricSpec::shapers.
  Result<std::vector<ImpairmentCounts>> impairment_stats();
  /// ENOENT for an unknown host.
  Result<HostCounters> counters(const std::string& name);

  /// For setns(2) by endpoint processes: /run/netns/NAME, or /proc/self/fd/N of this process; ""
  /// for an unknown host.
  [[nodiscard]] std::string netns_path(const std::string& name) const;
  /// Inode of the host's namespace, 0 for an unknown host.
  [[nodiscard]] std::uint64_t netns_inode(const std::string& name) const;
  [[nodiscard]] std::string fabric_path() const;
  [[nodiscard]] std::uint64_t fabric_inode() const;
  /// Index, in the fabric's namespace, of the port of a host (0 for an unknown host): where
  /// programs attach.
  [[nodiscard]] std::uint32_t port_index(const std::string& name) const;
  /// Index of the host's device in its own namespace, 0 for an unknown host.
  [[nodiscard]] std::uint32_t device_index(const std::string& name) const;

  /// "client eth0" and "client p0" to the batching offloads that are on, comma-separated, "" for
  /// none.
  [[nodiscard]] const std::map<std::string, std::string>& offloads() const;

  /// Takes everything down and says what did not go; the destructor does the same and only logs.
  Status teardown();

  Fabric(Fabric&&) noexcept;
  Fabric& operator=(Fabric&&) noexcept;
  ~Fabric();

private:
  struct State;
  explicit Fabric(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace rdmalab::net
