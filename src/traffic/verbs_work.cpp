#include "base/clock.h"
#include "traffic/verbs_link.h"

#include <array>
#include <cerrno>

#include <poll.h>

namespace rdmalab::traffic {

namespace {

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

} // namespace

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

Status VerbsLink::post_receive(std::uint64_t queue, std::uint64_t index)
{
  ibv_sge where = receive_notices_ ? sge(notice(queue, index), receive_bytes_)
                                   : sge(slot(queue, index) - receive_head_, receive_bytes_);
  ibv_recv_wr request{};
  request.wr_id = work_id(queue, index);
  request.sg_list = &where;
  request.num_sge = receive_bytes_ != 0 ? 1 : 0;
  ibv_recv_wr* bad = nullptr;
  const int number = srq_ ? ibv_post_srq_recv(srq_.get(), &request, &bad)
                          : ibv_post_recv(qps_[queue].get(), &request, &bad);
  if (number != 0) return system_error(number, "post a receive", Exit::traffic);
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
