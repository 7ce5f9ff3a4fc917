#pragma once

#include "base/netem.h"
#include "base/result.h"
#include "net/message.h"
#include "net/socket.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rdmalab::net {

/// The handle of every netem that we make ("rl:" in hex digits), so that ours is told from somebody
/// else's.
constexpr std::uint32_t netem_handle = 0x726c0000;
/// Priority of the filter that redirects a port's ingress to an ifb: late, so that programs see the
/// packet before. One on the same clsact must return TC_ACT_UNSPEC (TCX_NEXT) to let a packet go on
/// to the ifb.
constexpr std::uint16_t redirect_priority = 0xc000;

/// Counters of a qdisc since it was made; they survive a change of parameters.
struct QdiscCounters {
  std::uint64_t packets = 0; ///< that left it
  std::uint64_t bytes = 0;
  std::uint64_t drops = 0; ///< all of them, whatever the reason
  std::uint64_t overlimits = 0;
  std::uint64_t requeues = 0;
  std::uint64_t queued_packets = 0; ///< inside it now
  std::uint64_t queued_bytes = 0;
  /// tc_netem_xstats; older kernels don't have it, and then the rest is 0.
  bool exact = false;
  std::uint64_t delayed = 0;
  std::uint64_t lost = 0; ///< by the loss model
  std::uint64_t corrupted = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t ecn_marked = 0;
  std::uint64_t allocation_errors = 0;
};

/// One qdisc of a device as RTM_GETQDISC shows it.
struct QdiscState {
  std::uint32_t index = 0; ///< of the device
  std::uint32_t handle = 0;
  std::uint32_t parent = 0;
  std::string kind;
  Netem netem; ///< if kind is "netem"
  QdiscCounters counters;
};

enum class QdiscVerb {
  add,     ///< EEXIST if there is a root qdisc of ours
  replace, ///< whatever was there
  change,  ///< the parameters of ours: nothing queued is lost, counters go on
};

/// RTM_NEWQDISC: netem at the root of a device.
Message netem_message(QdiscVerb verb, std::uint32_t index, const Netem& netem);
/// RTM_NEWQDISC: clsact, the hook for filters at ingress and egress.
Message clsact_message(std::uint32_t index);
/// RTM_NEWTFILTER: all that comes in from `from` leaves through `to` (matchall, mirred egress
/// redirect).
Message redirect_message(std::uint32_t from, std::uint32_t to);

/// `socket`: NETLINK_ROUTE in the device's namespace.
Status set_netem(NlSocket& socket, QdiscVerb verb, std::uint32_t index, const Netem& netem);
/// Deletes the root qdisc; the device gets its default back. None there: success.
Status delete_root(NlSocket& socket, std::uint32_t index);
/// Makes clsact, unless there is one, and the redirection of what comes in to an ifb, where a netem
/// at the root then delays it; afterwards the packet goes on as if it had just arrived.
Status redirect_ingress(NlSocket& socket, std::uint32_t from, std::uint32_t to);

/// All qdiscs of the namespace in one dump, or those of one device.
Result<std::vector<QdiscState>> read_qdiscs(NlSocket& socket, std::uint32_t index = 0);
/// Our netem at the root of that device among them, or nullptr.
const QdiscState* find_netem(const std::vector<QdiscState>& all, std::uint32_t index);
/// Our netem at the root of a device; ENOENT if there is none.
Result<QdiscState> read_netem(NlSocket& socket, std::uint32_t index);

/// An Error unless the device has no queue of its own. A drop in a host's own queue is not a lost
/// packet for rxe: it ends the QP with IB_WC_LOC_QP_OP_ERR (drivers/infiniband/sw/rxe/rxe_req.c).
Status assert_noqueue(NlSocket& socket, const std::string& device);

/// Decodes the payload of an RTM_NEWQDISC.
Result<QdiscState> decode_qdisc(Bytes payload);

} // namespace rdmalab::net
