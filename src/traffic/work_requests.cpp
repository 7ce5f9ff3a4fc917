#include "traffic/work_requests.h"

#include "traffic/mistakes.h"
#include "traffic/notice.h"

#include <arpa/inet.h>

namespace rdmalab::traffic {

namespace {

/// Of the request that carries a message; a notice is a SEND.
ibv_wr_opcode opcode_of(lab::VerbsOp op)
{
  switch (op) {
  case lab::VerbsOp::send:
    return IBV_WR_SEND;
  case lab::VerbsOp::send_imm:
    return IBV_WR_SEND_WITH_IMM;
  case lab::VerbsOp::write:
  case lab::VerbsOp::write_notify:
    return IBV_WR_RDMA_WRITE;
  case lab::VerbsOp::write_imm:
    return IBV_WR_RDMA_WRITE_WITH_IMM;
  case lab::VerbsOp::read:
    return IBV_WR_RDMA_READ;
  case lab::VerbsOp::fetch_add:
    return IBV_WR_ATOMIC_FETCH_AND_ADD;
  case lab::VerbsOp::compare_swap:
    return IBV_WR_ATOMIC_CMP_AND_SWP;
  case lab::VerbsOp::register_memory: // is no work request
    break;
  }
  return IBV_WR_SEND;
}

} // namespace

WorkRequests::WorkRequests(const EndpointSpec& spec)
    : op_(lab::operation_of(spec.traffic.verbs.op)), spec_(spec),
      confirmed_(confirmed_by_read(spec.traffic.verbs)), depth_(spec.traffic.verbs.depth),
      bytes_(static_cast<std::uint32_t>(spec.traffic.message_bytes)),
      requests_(sends_of(spec.traffic.verbs)), places_(requests_.size())
{}

ibv_send_wr& WorkRequests::next(ibv_wr_opcode opcode, std::uint64_t id, const ibv_sge& place)
{
  places_[count_] = place;
  ibv_send_wr& request = requests_[count_];
  request = {};
  request.wr_id = id;
  request.sg_list = &places_[count_];
  request.num_sge = 1;
  request.opcode = opcode;
  if (spec_.traffic.verbs.inline_data) request.send_flags = IBV_SEND_INLINE;
  ++count_;
  return request;
}

void WorkRequests::add(const VerbsLink& link, std::uint64_t qp, std::uint64_t number,
                       std::uint64_t now_ns, bool signaled)
{
  const std::uint64_t id = VerbsLink::work_id(qp, number % depth_);
  const std::byte* message = link.slot(qp, number % link.slots().per_qp);
  ibv_send_wr* request = &next(opcode_of(op_.op), id, link.sge(message, bytes_));
  aim(*request, link, qp, number);
  if (op_.immediate) request->imm_data = htonl(static_cast<std::uint32_t>(number));
  if (op_.notice) {
    request->wr_id |= part;
    std::byte* notice = link.notice(qp, number % depth_);
    Notice{number, now_ns}.write(notice);
    request = &next(IBV_WR_SEND, id, link.sge(notice, sizeof(Notice)));
  }
  if (confirmed_) {
    if (!signaled) return;
    request->wr_id |= part;
    request = &next(IBV_WR_RDMA_READ, id, link.confirmation());
    request->send_flags = 0;
    request->wr.rdma.remote_addr = link.remote_address(0, 0);
    request->wr.rdma.rkey = link.remote_key();
  }
  if (signaled) request->send_flags |= IBV_SEND_SIGNALED;
}

void WorkRequests::aim(ibv_send_wr& request, const VerbsLink& link, std::uint64_t qp,
                       std::uint64_t number) const
{
  if (op_.atomic) {
    request.wr.atomic.remote_addr = link.remote_address(qp, 0) + misalignment_of(spec_);
    request.wr.atomic.rkey = link.remote_key();
    // Add one, or: where number has been, put number + 1.
    const bool swaps = op_.op == lab::VerbsOp::compare_swap;
    request.wr.atomic.compare_add = swaps ? number : 1;
    request.wr.atomic.swap = number + 1;
  } else if (link.address_handle() != nullptr) {
    request.wr.ud.ah = link.address_handle();
    request.wr.ud.remote_qpn = link.remote_qp(qp);
    request.wr.ud.remote_qkey = datagram_key;
  } else {
    request.wr.rdma.remote_addr = link.remote_address(qp, number % link.remote_slots().per_qp);
    request.wr.rdma.rkey = link.remote_key();
  }
}

ibv_send_wr* WorkRequests::list()
{
  for (std::size_t i = 0; i + 1 < count_; ++i) requests_[i].next = &requests_[i + 1];
  requests_[count_ - 1].next = nullptr;
  return requests_.data();
}

} // namespace rdmalab::traffic
