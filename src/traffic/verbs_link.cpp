#include "traffic/verbs_link.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/random.h"
#include "lab/operation.h"
#include "traffic/mistakes.h"
#include "traffic/oob.h"
#include "traffic/receive_stock.h"
#include "traffic/ring.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <poll.h>

namespace rdmalab::traffic {

namespace {

constexpr std::uint8_t port_number = 1; // rxe has one
constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t cache_line = 64;

/// What the two ends tell each other before their QPs connect.
struct Introduction {
  std::vector<std::uint32_t> qp_numbers;
  std::vector<std::uint32_t> psns;
  std::uint64_t base = 0; ///< address of slot 0
  std::uint32_t key = 0;  ///< remote key of the slots
  std::uint32_t active_mtu = 0;
  std::uint64_t message_bytes = 0;
};
void to_json(Json& json, const Introduction& i)
{
  json = {{"qp_numbers", i.qp_numbers},
          {"psns", i.psns},
          {"base", i.base},
          {"key", i.key},
          {"active_mtu", i.active_mtu},
          {"message_bytes", i.message_bytes}};
}
void from_json(const Json& json, Introduction& i)
{
  json.at("qp_numbers").get_to(i.qp_numbers);
  json.at("psns").get_to(i.psns);
  json.at("base").get_to(i.base);
  json.at("key").get_to(i.key);
  json.at("active_mtu").get_to(i.active_mtu);
  json.at("message_bytes").get_to(i.message_bytes);
}

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

/// Receives that the target of a QP has posted at most.
std::uint32_t receives_of(const lab::Verbs& verbs)
{
  return lab::operation_of(verbs.op).receives ? ReceiveStock(verbs).most() : 1;
}

const char* name_of(ibv_qp_state state)
{
  switch (state) {
  case IBV_QPS_RESET:
    return "RESET";
  case IBV_QPS_INIT:
    return "INIT";
  case IBV_QPS_RTR:
    return "RTR";
  case IBV_QPS_RTS:
    return "RTS";
  case IBV_QPS_SQD:
    return "SQD";
  case IBV_QPS_SQE:
    return "SQE";
  case IBV_QPS_ERR:
    return "ERR";
  case IBV_QPS_UNKNOWN:
    break;
  }
  return "UNKNOWN";
}

Status modify(ibv_qp* qp, QpTransition transition, const char* state)
{
  const int number = ibv_modify_qp(qp, &transition.attr, transition.mask);
  if (number != 0) return system_error(number, std::string("bring a QP to ") + state);
  return {};
}

} // namespace

SlotLayout slots_of(const EndpointSpec& spec, Role role)
{
  const std::uint64_t bytes = spec.traffic.message_bytes;
  const std::uint64_t align = bytes >= page_bytes ? page_bytes : cache_line;
  SlotLayout slots;
  slots.stride = (bytes + align - 1) / align * align;
  const std::uint64_t depth = spec.traffic.verbs.depth;
  const std::uint64_t qps = std::max(1U, spec.traffic.verbs.qps);
  const std::uint64_t ring = ring_messages(spec, slots.stride, qps);
  const bool initiator = role == Role::initiator;
  slots.per_qp = depth;
  const lab::Operation& op = lab::operation_of(spec.traffic.verbs.op);
  if (op.reads) {
    // The target's depth + 1 messages in turn: the largest ring that does not hold whole turns.
    if (!initiator)
      slots.per_qp = depth + 1;
    else if (ring > depth)
      slots.per_qp = ring / (depth + 1) * (depth + 1) - 1;
  } else if (!initiator) {
    const std::uint64_t least = op.lands ? ReceiveStock(spec.traffic.verbs).most() : depth;
    slots.per_qp = std::max(least, ring);
  }
  return slots;
}

Result<VerbsLink> VerbsLink::prepare(const EndpointSpec& spec, std::uint64_t deadline_ns)
{
  VerbsLink link;
  TRY(link.open(spec, deadline_ns));
  TRY(link.make_objects(spec));
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
  message_bytes_ = static_cast<std::uint32_t>(spec.traffic.message_bytes);
  receive_bytes_ = receive_bytes_of(spec, message_bytes_);
  slots_ = slots_of(spec, spec.role);
  remote_slots_ = slots_of(spec, spec.role == Role::initiator ? Role::target : Role::initiator);
  TRY(check_limits(spec, port));
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
  const std::uint64_t work = spec.role == Role::initiator ? verbs.depth : receives_of(verbs);
  if (work > static_cast<std::uint64_t>(device_.max_qp_wr))
    return too_much("work requests per QP", work, static_cast<std::uint64_t>(device_.max_qp_wr),
                    "use less depth");
  if (work * verbs.qps > static_cast<std::uint64_t>(device_.max_cqe))
    return too_much("completion queue entries", work * verbs.qps,
                    static_cast<std::uint64_t>(device_.max_cqe), "use fewer QPs or less depth");
  return {};
}

Status VerbsLink::make_objects(const EndpointSpec& spec)
{
  const lab::Verbs& verbs = spec.traffic.verbs;
  const std::uint32_t receives = receives_of(verbs);
  pd_.reset(ibv_alloc_pd(context_.get()));
  if (!pd_) return system_error("allocate a protection domain");
  channel_.reset(ibv_create_comp_channel(context_.get()));
  if (!channel_) return system_error("create a completion channel");
  ::fcntl(channel_->fd, F_SETFL, ::fcntl(channel_->fd, F_GETFL) | O_NONBLOCK);
  const int entries = static_cast<int>(std::max(verbs.depth, receives) * verbs.qps);
  cq_.reset(ibv_create_cq(context_.get(), entries, nullptr, channel_.get(), 0));
  if (!cq_)
    return system_error("create a completion queue of " + std::to_string(entries) + " entries");

  TRY_ASSIGN(pages_, Pages::allocate(slots_.stride * slots_.per_qp * verbs.qps));
  mr_.reset(ibv_reg_mr(pd_.get(), pages_.data(), pages_.size(), access_of(spec)));
  if (!mr_)
    return system_error(
        "register " + std::to_string(pages_.size()) + " bytes of memory", Exit::environment,
        "raise the locked-memory limit (ulimit -l, or --ulimit memlock=-1 of a container)");
  local_key_ = local_key_of(spec, mr_->lkey);

  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq_.get();
  init.qp_type = IBV_QPT_RC;
  init.cap.max_send_wr = verbs.depth;
  init.cap.max_recv_wr = receives;
  init.cap.max_send_sge = init.cap.max_recv_sge = 1;
  for (std::uint32_t i = 0; i < verbs.qps; ++i) {
    qps_.emplace_back(ibv_create_qp(pd_.get(), &init));
    if (!qps_.back()) return system_error("create QP " + std::to_string(i));
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
  remote_base_ =
      remote_base_of(spec, theirs.base, remote_slots_.stride * remote_slots_.per_qp * qps_.size());
  remote_key_ = remote_key_of(spec, theirs.key);

  TRY_ASSIGN(path_mtu_,
             agree_on_mtu(spec.traffic.verbs.path_mtu, ours.active_mtu, theirs.active_mtu));
  TRY_ASSIGN(const ibv_mtu mtu, mtu_code(path_mtu_));
  TRY_ASSIGN(const ibv_gid peer_gid, mapped_gid(spec.peer_ip));
  const auto most_reads = [&](int device_limit) {
    const auto limit = std::clamp(device_limit, 1, 255);
    return static_cast<std::uint8_t>(
        std::min(spec.traffic.verbs.depth, static_cast<std::uint32_t>(limit)));
  };
  QpAttributes attributes(spec.traffic.verbs, port_number, gid_index_);
  attributes.access(qp_access_of(spec));
  attributes.path_mtu(mtu).outstanding_reads(most_reads(device_.max_qp_init_rd_atom),
                                             most_reads(device_.max_qp_rd_atom));
  for (std::size_t i = 0; i < qps_.size(); ++i) {
    attributes.local_psn(ours.psns[i]).peer(peer_gid, theirs.qp_numbers[i], theirs.psns[i]);
    TRY(bring_up(spec, i, attributes));
  }
  return {};
}

Status VerbsLink::bring_up(const EndpointSpec& spec, std::size_t qp, const QpAttributes& attributes)
{
  const ibv_qp_state last = ready_state_of(spec);
  if (last >= IBV_QPS_INIT) TRY(modify(qps_[qp].get(), attributes.to_init(), "INIT"));
  if (last >= IBV_QPS_RTR) TRY(modify(qps_[qp].get(), attributes.to_rtr(), "RTR"));
  if (last >= IBV_QPS_RTS) TRY(modify(qps_[qp].get(), attributes.to_rts(), "RTS"));
  if (spec.role == Role::target && lab::operation_of(spec.traffic.verbs.op).receives)
    for (std::uint64_t slot = 0; slot < ReceiveStock(spec.traffic.verbs).first(); ++slot)
      TRY(post_receive(qp, slot));
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

std::map<std::string, std::string> VerbsLink::states(const std::string& host) const
{
  std::map<std::string, std::string> found;
  for (std::size_t i = 0; i < qps_.size(); ++i) {
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    const int number = ibv_query_qp(qps_[i].get(), &attr, IBV_QP_STATE, &init);
    found[host + " " + std::to_string(i)] = name_of(number == 0 ? attr.qp_state : IBV_QPS_UNKNOWN);
  }
  return found;
}

Status VerbsLink::post_receive(std::uint64_t qp, std::uint64_t index)
{
  ibv_sge where = sge(qp, index);
  where.length = receive_bytes_;
  ibv_recv_wr request{};
  request.wr_id = work_id(qp, index);
  request.sg_list = &where;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  if (const int number = ibv_post_recv(qps_[qp].get(), &request, &bad); number != 0)
    return system_error(number, "post a receive", Exit::traffic);
  return {};
}

Status VerbsLink::take_event()
{
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  if (ibv_get_cq_event(channel_.get(), &cq, &context) != 0) {
    if (errno == EAGAIN || errno == EINTR) return {};
    return system_error("read a completion event", Exit::traffic);
  }
  ibv_ack_cq_events(cq, 1); // at once: a CQ with unacknowledged events can't be destroyed
  armed_ = false;
  return {};
}

Result<Completions> VerbsLink::poll()
{
  const int n = ibv_poll_cq(cq_.get(), static_cast<int>(completions_.size()), completions_.data());
  if (n < 0) return system_error(EIO, "poll the completion queue", Exit::traffic);
  return Completions{{completions_.data(), static_cast<std::size_t>(n)}, false};
}

Result<Completions> VerbsLink::wait(std::uint64_t deadline_ns, bool listen)
{
  while (true) {
    TRY_ASSIGN(const Completions found, poll());
    if (!found.list.empty()) return found;
    if (!armed_) {
      // What came between the poll and this makes no event: look once more before going to sleep.
      if (const int number = ibv_req_notify_cq(cq_.get(), 0); number != 0)
        return system_error(number, "ask for completion events", Exit::traffic);
      armed_ = true;
      continue;
    }
    std::array<pollfd, 2> fds{pollfd{channel_->fd, POLLIN, 0}, pollfd{oob_.fd(), POLLIN, 0}};
    const std::uint64_t now = monotonic_ns();
    const std::uint64_t left = now < deadline_ns ? deadline_ns - now : 0;
    const timespec timeout{static_cast<time_t>(left / 1'000'000'000),
                           static_cast<long>(left % 1'000'000'000)};
    const int n = ::ppoll(fds.data(), listen ? 2 : 1, &timeout, nullptr);
    if (n < 0 && errno != EINTR) return system_error("wait for completions", Exit::traffic);
    if (n == 0) return Completions{};
    if (n < 0) continue;
    if (fds[0].revents != 0)
      TRY(take_event());
    else
      return Completions{{}, true};
  }
}

} // namespace rdmalab::traffic
