#include "traffic/verbs_link.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/random.h"
#include "lab/operation.h"
#include "traffic/introduction.h"
#include "traffic/mistakes.h"
#include "traffic/oob.h"
#include "traffic/receive_stock.h"

#include <algorithm>

#include <fcntl.h>

namespace rdmalab::traffic {

namespace {

constexpr std::uint8_t port_number = 1; // rxe and siw have one

std::uint32_t psn_of(const EndpointSpec& spec, std::uint64_t qp)
{
  const std::uint64_t side = spec.role == Role::initiator ? 1 : 2;
  return static_cast<std::uint32_t>(mix64(mix64(spec.seed, side), qp) & 0xff'ffffU);
}

/// The smaller of both ports' MTUs, or what the lab asks for if both can carry it.
Result<std::uint32_t> agree_on_mtu(std::uint32_t asked, std::uint32_t ours, std::uint32_t theirs)
{
  const std::uint32_t most = std::min(ours, theirs);
  if (asked <= most) return asked == 0 ? most : asked;
  return Error{Exit::setup,
               "use path MTU " + std::to_string(asked) + ": the ports' active MTU is " +
                   std::to_string(most),
               0,
               "an interface MTU of " + std::to_string(asked + 80) + " or more carries it",
               {}};
}

Error too_much(const char* what, std::uint64_t wanted, std::uint64_t most, const char* hint)
{
  return {Exit::setup,
          std::string(what) + ": " + std::to_string(wanted) + " wanted, the device has at most " +
              std::to_string(most),
          0,
          hint,
          {}};
}

/// Receives that an end has posted to a queue at most.
std::uint32_t receives_of(const EndpointSpec& spec)
{
  const bool any = spec.role == Role::target && lab::operation_of(spec.traffic.verbs.op).receives;
  return any ? ReceiveStock(spec.traffic.verbs).most() : 0;
}

/// READs and atomics that may be outstanding, where a device takes so many.
std::uint8_t most_reads(const EndpointSpec& spec, int device_limit)
{
  const auto limit = static_cast<std::uint32_t>(std::clamp(device_limit, 1, 255));
  return static_cast<std::uint8_t>(std::min(spec.traffic.verbs.depth, limit));
}

ibv_qp_type type_of(lab::Transport transport)
{
  switch (transport) {
  case lab::Transport::rc:
  case lab::Transport::iwarp: // to verbs, a reliable connection
    return IBV_QPT_RC;
  case lab::Transport::uc:
    return IBV_QPT_UC;
  case lab::Transport::ud:
    return IBV_QPT_UD;
  }
  return IBV_QPT_RC;
}

Status modify(ibv_qp* qp, QpTransition transition, const char* state)
{
  const int number = ibv_modify_qp(qp, &transition.attr, transition.mask);
  if (number != 0) return system_error(number, std::string("bring a QP to ") + state);
  return {};
}

} // namespace

Result<VerbsLink> VerbsLink::prepare(const EndpointSpec& spec, std::uint64_t deadline_ns)
{
  VerbsLink link;
  TRY(link.open(spec, deadline_ns));
  const std::uint64_t begin = monotonic_ns();
  TRY(link.make_memory(spec));
  const std::uint64_t registered = monotonic_ns();
  TRY(link.make_queues(spec));
  link.setup_ns_ = {{"register", registered - begin}, {"qp", monotonic_ns() - registered}};
  return link;
}

Status VerbsLink::open(const EndpointSpec& spec, std::uint64_t deadline_ns)
{
  TRY_ASSIGN(context_, open_device(spec.rdma_device));
  ibv_port_attr port{};
  if (const int number = ibv_query_port(context_.get(), port_number, &port); number != 0)
    return system_error(number, "query the port of " + spec.rdma_device, Exit::environment);
  if (const int number = ibv_query_device(context_.get(), &device_); number != 0)
    return system_error(number, "query " + spec.rdma_device, Exit::environment);
  active_mtu_ = mtu_bytes(port.active_mtu);
  memory_ = memory_of(spec, spec.role);
  TRY(check_limits(spec, port));
  if (over_iwarp(spec.traffic)) return {};
  TRY_ASSIGN(gid_index_, find_rocev2_gid(context_.get(), port_number, spec.local_ip, deadline_ns));
  return {};
}

Status VerbsLink::check_limits(const EndpointSpec& spec, const ibv_port_attr& port) const
{
  const lab::Verbs& verbs = spec.traffic.verbs;
  if (verbs.depth == 0 || verbs.qps == 0) return usage_error("use a depth or a number of QPs of 0");
  if (spec.traffic.message_bytes > port.max_msg_sz)
    return too_much("message size", spec.traffic.message_bytes, port.max_msg_sz,
                    "use smaller messages");
  const std::uint64_t work = std::max(sends_of(verbs), receives_of(spec));
  if (work > static_cast<std::uint64_t>(device_.max_qp_wr))
    return too_much("work requests per QP", work, static_cast<std::uint64_t>(device_.max_qp_wr),
                    "use less depth");
  if (work * verbs.qps > static_cast<std::uint64_t>(device_.max_cqe))
    return too_much("completion queue entries", work * verbs.qps,
                    static_cast<std::uint64_t>(device_.max_cqe), "use fewer QPs or less depth");
  return {};
}

Status VerbsLink::make_memory(const EndpointSpec& spec)
{
  pd_.reset(ibv_alloc_pd(context_.get()));
  if (!pd_) return system_error("allocate a protection domain");
  TRY_ASSIGN(pages_, Pages::allocate(memory_.bytes));
  mr_.reset(ibv_reg_mr(pd_.get(), pages_.data(), pages_.size(), access_of(spec)));
  if (!mr_)
    return system_error(
        "register " + std::to_string(pages_.size()) + " bytes of memory", Exit::environment,
        "raise the locked-memory limit (ulimit -l, or --ulimit memlock=-1 of a container)");
  local_key_ = local_key_of(spec, mr_->lkey);

  const lab::Operation& op = lab::operation_of(spec.traffic.verbs.op);
  const auto message = static_cast<std::uint32_t>(spec.traffic.message_bytes);
  receive_notices_ = op.notice;
  if (memory_.messages.head != 0) receive_head_ = grh_bytes;
  if (op.notice)
    receive_bytes_ = lab::notice_bytes;
  else if (op.lands)
    receive_bytes_ = receive_head_ + receive_bytes_of(spec, message);
  return {};
}

Status VerbsLink::make_queues(const EndpointSpec& spec)
{
  const lab::Verbs& verbs = spec.traffic.verbs;
  const std::uint32_t receives = receives_of(spec);
  channel_.reset(ibv_create_comp_channel(context_.get()));
  if (!channel_) return system_error("create a completion channel");
  ::fcntl(channel_->fd, F_SETFL, ::fcntl(channel_->fd, F_GETFL) | O_NONBLOCK);
  const int entries = static_cast<int>(std::max(sends_of(verbs), receives) * verbs.qps);
  cq_.reset(ibv_create_cq(context_.get(), entries, nullptr, channel_.get(), 0));
  if (!cq_)
    return system_error("create a completion queue of " + std::to_string(entries) + " entries");
  if (verbs.srq && receives != 0) {
    ibv_srq_init_attr shared{};
    shared.attr.max_wr = receives;
    shared.attr.max_sge = 1;
    srq_.reset(ibv_create_srq(pd_.get(), &shared));
    if (!srq_)
      return system_error("create a shared queue of " + std::to_string(receives) + " receives");
  }

  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq_.get();
  init.srq = srq_.get();
  init.qp_type = type_of(verbs.transport);
  init.cap.max_send_wr = sends_of(verbs);
  init.cap.max_recv_wr = srq_ ? 0 : std::max(receives, 1U);
  init.cap.max_send_sge = init.cap.max_recv_sge = 1;
  const auto bytes = static_cast<std::uint32_t>(spec.traffic.message_bytes);
  if (verbs.inline_data && spec.role == Role::initiator) init.cap.max_inline_data = bytes;
  for (std::uint32_t i = 0; i < verbs.qps; ++i) {
    ibv_qp_init_attr asked = init; // the library writes down what it grants
    qps_.emplace_back(ibv_create_qp(pd_.get(), &asked));
    if (!qps_.back())
      return system_error("create QP " + std::to_string(i) +
                          (init.cap.max_inline_data == 0
                               ? std::string()
                               : " with " + std::to_string(bytes) + " bytes of inline data"));
    if (asked.cap.max_inline_data < init.cap.max_inline_data)
      return too_much("inline data", bytes, asked.cap.max_inline_data, "use smaller messages");
    streams_.push_back({qps_.back()->qp_num, psn_of(spec, i), 0});
  }
  return {};
}

Status VerbsLink::meet(const EndpointSpec& spec, std::uint64_t deadline_ns)
{
  TRY_ASSIGN(oob_, meet_peer(spec, deadline_ns));
  return {};
}

Status VerbsLink::join(const EndpointSpec& spec, std::uint64_t deadline_ns)
{
  const std::uint64_t first = monotonic_ns();
  const bool by_cm = spec.traffic.verbs.connect == lab::Connect::cm;
  if (by_cm) {
    TRY_ASSIGN(cm_, ConnectionManager::open(spec)); // the target listens before it tells
  }
  const std::uint64_t begin = monotonic_ns();
  Introduction ours;
  for (const StreamId& stream : streams_) {
    ours.qp_numbers.push_back(stream.qp_number);
    ours.psns.push_back(stream.first_psn);
  }
  ours.base = reinterpret_cast<std::uintptr_t>(pages_.data());
  ours.key = mr_->rkey;
  ours.active_mtu = active_mtu_;
  ours.message_bytes = spec.traffic.message_bytes;
  TRY_ASSIGN(const Json answer, oob_.exchange(Json(ours), deadline_ns));
  TRY_ASSIGN(const auto theirs, from_json_value<Introduction>(answer, "the peer's introduction"));
  if (theirs.qp_numbers.size() != qps_.size() || theirs.psns.size() != qps_.size() ||
      theirs.message_bytes != ours.message_bytes)
    return Error{Exit::setup, "agree with the peer on QPs and message size", 0, {}, {}};
  const Memory remote =
      memory_of(spec, spec.role == Role::initiator ? Role::target : Role::initiator);
  remote_ = remote.messages;
  remote_base_ = remote_base_of(spec, theirs.base, remote.bytes);
  remote_key_ = remote_key_of(spec, theirs.key);
  remote_qps_ = theirs.qp_numbers;
  const std::uint64_t told = monotonic_ns();
  setup_ns_["exchange"] = told - begin;

  if (over_iwarp(spec.traffic)) {
    TRY(connect_iwarp(spec, deadline_ns));
  } else {
    TRY_ASSIGN(path_mtu_,
               agree_on_mtu(spec.traffic.verbs.path_mtu, ours.active_mtu, theirs.active_mtu));
    TRY(connect(spec, theirs, deadline_ns));
  }
  if (by_cm)
    setup_ns_["cm"] = begin - first + monotonic_ns() - told;
  else
    setup_ns_["rts"] = monotonic_ns() - told;
  return {};
}

/// All QPs from RESET to RTS.
Status VerbsLink::connect(const EndpointSpec& spec, const Introduction& theirs,
                          std::uint64_t deadline_ns)
{
  TRY_ASSIGN(const ibv_mtu mtu, mtu_code(path_mtu_));
  TRY_ASSIGN(const ibv_gid peer_gid, mapped_gid(spec.peer_ip));
  QpAttributes attributes(spec.traffic.verbs, port_number, gid_index_);
  attributes.access(qp_access_of(spec));
  const std::uint8_t reads_out = most_reads(spec, device_.max_qp_init_rd_atom);
  const std::uint8_t reads_in = most_reads(spec, device_.max_qp_rd_atom);
  attributes.path_mtu(mtu).outstanding_reads(reads_out, reads_in);
  for (std::size_t i = 0; i < qps_.size(); ++i) {
    CmTerms terms{streams_[i].first_psn, theirs.qp_numbers[i], theirs.psns[i]};
    if (cm_) {
      TRY_ASSIGN(terms,
                 cm_->negotiate(streams_[i].qp_number, std::min(reads_out, reads_in), deadline_ns));
      streams_[i].first_psn = terms.local_psn;
      if (terms.peer_qp != theirs.qp_numbers[i])
        return Error{Exit::setup, "agree with the peer's connection manager on a QP", 0, {}, {}};
    }
    attributes.local_psn(terms.local_psn).peer(peer_gid, terms.peer_qp, terms.peer_psn);
    TRY(bring_up(spec, i, attributes));
    if (cm_) TRY(cm_->confirm(deadline_ns));
  }
  if (spec.traffic.verbs.transport == lab::Transport::ud) {
    ibv_ah_attr path = attributes.path();
    address_.reset(ibv_create_ah(pd_.get(), &path));
    if (!address_) return system_error("create an address handle for " + spec.peer_ip);
  }
  return {};
}

/// The connection manager does all but the first step.
Status VerbsLink::connect_iwarp(const EndpointSpec& spec, std::uint64_t deadline_ns)
{
  QpAttributes attributes(spec.traffic.verbs, port_number, 0);
  attributes.access(qp_access_of(spec));
  const std::uint8_t reads = most_reads(spec, device_.max_qp_rd_atom);
  for (std::size_t i = 0; i < qps_.size(); ++i) {
    TRY(to_init(spec, i, attributes));
    TRY_ASSIGN(streams_[i].port, cm_->establish(streams_[i].qp_number, reads, deadline_ns));
  }
  return {};
}

Status VerbsLink::bring_up(const EndpointSpec& spec, std::size_t qp, const QpAttributes& attributes)
{
  const ibv_qp_state last = ready_state_of(spec);
  if (last >= IBV_QPS_INIT) TRY(to_init(spec, qp, attributes));
  if (last >= IBV_QPS_RTR) TRY(modify(qps_[qp].get(), attributes.to_rtr(), "RTR"));
  if (last >= IBV_QPS_RTS) TRY(modify(qps_[qp].get(), attributes.to_rts(), "RTS"));
  return {};
}

/// A queue takes receives from INIT on, and has them before the peer can send.
Status VerbsLink::to_init(const EndpointSpec& spec, std::size_t qp, const QpAttributes& attributes)
{
  TRY(modify(qps_[qp].get(), attributes.to_init(), "INIT"));
  const ReceiveStock stock(spec.traffic.verbs);
  if (receives_of(spec) == 0 || qp >= stock.queues()) return {};
  for (std::uint32_t i = 0; i < stock.first(); ++i) TRY(post_receive(qp, i));
  return {};
}

Status VerbsLink::break_off()
{
  QpTransition to_error;
  to_error.attr.qp_state = IBV_QPS_ERR;
  to_error.mask = IBV_QP_STATE;
  for (const Qp& qp : qps_) TRY(modify(qp.get(), to_error, "ERROR"));
  return {};
}

} // namespace rdmalab::traffic
