#include "traffic/slots.h"

#include "lab/operation.h"
#include "traffic/receive_stock.h"
#include "traffic/ring.h"

#include <algorithm>

namespace rdmalab::traffic {

namespace {

constexpr std::uint64_t memory_page = 4096;
constexpr std::uint64_t cache_line = 64;

std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t to)
{
  return (bytes + to - 1) / to * to;
}

/// Receives at once, a QP's share of them if the QPs have one queue together.
std::uint64_t receives_per_qp(const lab::Verbs& verbs)
{
  const std::uint64_t most = ReceiveStock(verbs).most();
  return verbs.srq ? (most + verbs.qps - 1) / verbs.qps : most;
}

std::uint64_t slots_per_qp(const EndpointSpec& spec, Role role, std::uint64_t ring)
{
  const lab::Verbs& verbs = spec.traffic.verbs;
  const lab::Operation& op = lab::operation_of(verbs.op);
  const std::uint64_t depth = verbs.depth;
  if (op.local) return 1;
  if (op.atomic) return role == Role::initiator ? depth : 1;
  if (op.reads) {
    // The target's depth + 1 messages in turn: the largest ring that does not hold whole turns.
    if (role == Role::target) return depth + 1;
    return ring > depth ? ring / (depth + 1) * (depth + 1) - 1 : depth;
  }
  if (role == Role::initiator) return depth;
  if (!op.receives) return std::max(depth, ring);
  // Of what doesn't land in receives, so many messages may be written before the target has looked
  // at the first.
  if (op.lands) return std::max(receives_per_qp(verbs), ring);
  return std::max(ReceiveStock(verbs).most() + depth, ring);
}

} // namespace

Memory memory_of(const EndpointSpec& spec, Role role)
{
  const lab::Verbs& verbs = spec.traffic.verbs;
  const std::uint64_t bytes = spec.traffic.message_bytes;
  const std::uint64_t qps = std::max(1U, verbs.qps);
  Memory memory;
  SlotLayout& messages = memory.messages;
  if (verbs.transport == lab::Transport::ud && role == Role::target)
    messages.head = rounded_up(grh_bytes, cache_line);
  messages.stride =
      rounded_up(messages.head + bytes, bytes >= memory_page ? memory_page : cache_line);
  messages.per_qp = slots_per_qp(spec, role, ring_messages(spec, messages.stride, qps));
  memory.bytes = messages.stride * messages.per_qp * qps;
  if (confirmed_by_read(verbs) && role == Role::initiator) {
    memory.confirmation = memory.bytes;
    memory.bytes += cache_line;
  }
  if (!lab::operation_of(verbs.op).notice) return memory;
  SlotLayout& notices = memory.notices;
  notices.stride = cache_line;
  notices.per_qp = role == Role::initiator ? verbs.depth : messages.per_qp - verbs.depth;
  notices.begin = memory.bytes;
  memory.bytes += notices.stride * notices.per_qp * qps;
  return memory;
}

std::uint32_t sends_of(const lab::Verbs& verbs)
{
  return verbs.depth *
         (1 + (lab::operation_of(verbs.op).notice ? 1 : 0) + (confirmed_by_read(verbs) ? 1 : 0));
}

} // namespace rdmalab::traffic
