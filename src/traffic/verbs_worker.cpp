#include "base/clock.h"
#include "base/json.h"
#include "traffic/drain.h"
#include "traffic/meter.h"
#include "traffic/oob.h"
#include "traffic/payload.h"
#include "traffic/verbs_link.h"
#include "traffic/worker.h"

#include <algorithm>
#include <array>

namespace rdmalab::traffic {

namespace {

const char* name_of(lab::VerbsOp op)
{
  switch (op) {
  case lab::VerbsOp::send:
    return "send";
  case lab::VerbsOp::write:
    return "write";
  case lab::VerbsOp::read:
    return "read";
  }
  return "?";
}

/// Work completions by status.
class StatusCounts {
public:
  void add(ibv_wc_status status) { ++counts_[std::min<std::size_t>(status, counts_.size() - 1)]; }
  /// `from` IBV_WC_SUCCESS counts all, from the next one only what failed.
  void write(record::Flow& flow, std::size_t from) const
  {
    for (std::size_t i = from; i < counts_.size(); ++i)
      if (counts_[i] != 0)
        flow.completions[status_name(static_cast<ibv_wc_status>(i))] = counts_[i];
  }

private:
  std::array<std::uint64_t, 32> counts_{};
};

/// "send completion 3: IBV_WC_RETRY_EXC_ERR", with the QP where there are several.
std::string failure(const char* what, std::uint64_t number, std::size_t qps, std::uint64_t qp,
                    ibv_wc_status status)
{
  std::string text = qps > 1 ? "QP " + std::to_string(qp) + ": " : "";
  return text + what + " completion " + std::to_string(number) + ": " + status_name(status);
}

/// The end that posts the work.
class VerbsInitiator : public Worker {
public:
  VerbsInitiator(const EndpointSpec& spec, VerbsLink link)
      : op_(spec.traffic.verbs.op), depth_(spec.traffic.verbs.depth), spec_(spec),
        payload_(spec.seed, spec.traffic.message_bytes), link_(std::move(link)),
        queues_(spec.traffic.verbs.qps), group_(group_of(spec.traffic.verbs)), requests_(depth_),
        places_(depth_)
  {
    for (Queue& queue : queues_) queue.posted_at.resize(depth_);
    if (op_ == lab::VerbsOp::read) return;
    for (std::uint64_t qp = 0; qp < queues_.size(); ++qp)
      for (std::uint64_t slot = 0; slot < depth_; ++slot) payload_.fill(link_.slot(qp, slot));
  }

  VerbsLink& link() { return link_; }
  [[nodiscard]] std::vector<StreamId> streams() const override { return link_.streams(); }

  Result<record::Flow> run(const Schedule& schedule) override
  {
    record::Flow flow = empty_flow(spec_, schedule);
    flow.path_mtu = link_.path_mtu();
    Meter meter(flow, schedule, payload_.bytes(), queues_.size());
    sleep_until_ns(schedule.start_ns);
    if (const Status driven = drive(schedule, meter, flow); !driven && flow.outcome == "ok")
      flow.outcome = driven.error().message();
    if (op_ == lab::VerbsOp::read)
      for (std::uint64_t qp = 0; qp < queues_.size(); ++qp)
        check_until(qp, queues_[qp].completed, meter);
    counts_.write(flow, IBV_WC_SUCCESS);
    if (op_ == lab::VerbsOp::send) flow.bytes_per_stream.clear(); // the target's to tell

    Totals totals;
    for (const Queue& queue : queues_) {
      totals.posted.push_back(queue.posted);
      totals.completed.push_back(queue.completed);
    }
    totals.outcome = flow.outcome;
    const Status told =
        link_.oob().send(totals, schedule.window_end_ns + drain_budget_ns(spec_.traffic));
    if (!told && flow.outcome == "ok") flow.outcome = told.error().message();
    return flow;
  }

private:
  /// One QP's messages: number n uses slot n % depth, and they complete in order.
  struct Queue {
    std::uint64_t posted = 0;
    std::uint64_t completed = 0; ///< with success
    std::uint64_t ended = 0;     ///< completed or failed
    std::uint64_t checked = 0;   ///< of the completed (READ)
    std::vector<std::uint64_t> posted_at;
  };

  /// Keeps every QP full until the window ends, then waits for what is in flight.
  Status drive(const Schedule& schedule, Meter& meter, record::Flow& flow)
  {
    std::uint64_t give_up = schedule.window_end_ns + transport_drain_ns(spec_.traffic);
    bool posting = true;
    TRY(refill(meter));
    while (true) {
      TRY_ASSIGN(const Completions found,
                 link_.wait(posting ? schedule.window_end_ns : give_up, true));
      const std::uint64_t now = monotonic_ns();
      if (found.peer_spoke) {
        flow.outcome = "the target ended before the traffic did";
        return {};
      }
      for (const ibv_wc& wc : found.list) complete(wc, now, meter, flow);
      if (posting && flow.outcome != "ok") give_up = now + transport_drain_ns(spec_.traffic);
      posting = posting && flow.outcome == "ok" && now < schedule.window_end_ns;
      const std::uint64_t in_flight = outstanding();
      if (posting) {
        TRY(refill(meter));
      } else if (in_flight == 0) {
        return {};
      } else if (found.list.empty() && now >= give_up) {
        if (flow.outcome == "ok")
          flow.outcome = "drain: " + std::to_string(in_flight) +
                         " messages were not acknowledged within the time that this traffic has "
                         "after the window";
        return {};
      }
    }
  }

  [[nodiscard]] std::uint64_t outstanding() const
  {
    std::uint64_t sum = 0;
    for (const Queue& queue : queues_) sum += queue.posted - queue.ended;
    return sum;
  }

  /// Messages that are posted together and of which only the last makes a completion when it
  /// succeeds: it stands for those before it. SEND's latency is the target's to measure, so its
  /// initiator need not wake up for each; for WRITE and READ the completion is the delivery, and
  /// each has its own.
  static std::uint64_t group_of(const lab::Verbs& verbs)
  {
    return verbs.op == lab::VerbsOp::send ? std::max<std::uint64_t>(1, verbs.depth / 4) : 1;
  }

  void complete(const ibv_wc& wc, std::uint64_t now, Meter& meter, record::Flow& flow)
  {
    const std::uint64_t qp = VerbsLink::qp_of(wc.wr_id);
    Queue& queue = queues_[qp];
    // Slots of messages in flight are all different, so the slot tells which of them this is.
    const std::uint64_t ahead =
        (VerbsLink::slot_of(wc.wr_id) + depth_ - queue.ended % depth_) % depth_;
    for (std::uint64_t i = 0; i < ahead; ++i) succeed(qp, now, meter);
    if (wc.status == IBV_WC_SUCCESS) return succeed(qp, now, meter);
    counts_.add(wc.status);
    if (flow.outcome == "ok")
      flow.outcome = failure(name_of(op_), queue.ended, queues_.size(), qp, wc.status);
    ++queue.ended;
  }

  /// The oldest message in flight on a QP was acknowledged.
  void succeed(std::uint64_t qp, std::uint64_t now, Meter& meter)
  {
    Queue& queue = queues_[qp];
    const std::uint64_t number = queue.ended++;
    const std::uint64_t slot = number % depth_;
    ++queue.completed;
    counts_.add(IBV_WC_SUCCESS);
    if (op_ == lab::VerbsOp::send) return; // its delivery is the target's receive
    meter.deliver(qp, now, now - queue.posted_at[slot]);
  }

  /// READ: checks what has arrived on a QP up to message `end`.
  void check_until(std::uint64_t qp, std::uint64_t end, Meter& meter)
  {
    for (std::uint64_t& number = queues_[qp].checked; number < end; ++number) {
      const std::byte* message = link_.slot(qp, number % link_.slots().per_qp);
      meter.checked(payload_.check(message, qp, number % link_.remote_slots().per_qp));
    }
  }

  Status refill(Meter& meter)
  {
    for (std::uint64_t qp = 0; qp < queues_.size(); ++qp) {
      const Queue& queue = queues_[qp];
      const std::uint64_t room = depth_ - (queue.posted - queue.ended);
      if (room >= group_) TRY(post(qp, room / group_ * group_, meter));
    }
    return {};
  }

  /// Posts `count` messages of a QP as one list: one doorbell, which with rxe is one system call.
  Status post(std::uint64_t qp, std::uint64_t count, Meter& meter)
  {
    Queue& queue = queues_[qp];
    const std::uint64_t now = monotonic_ns();
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t number = queue.posted + i;
      const std::uint64_t slot = number % link_.slots().per_qp;
      queue.posted_at[number % depth_] = now;
      if (op_ != lab::VerbsOp::read)
        payload_.stamp(link_.slot(qp, slot), qp, number, now);
      else if (number >= link_.slots().per_qp)
        check_until(qp, number - link_.slots().per_qp + 1, meter);
      places_[i] = link_.sge(qp, slot);
      ibv_send_wr& request = requests_[i];
      request = {};
      request.wr_id = VerbsLink::work_id(qp, number % depth_);
      request.next = i + 1 < count ? &requests_[i + 1] : nullptr;
      request.sg_list = &places_[i];
      request.num_sge = 1;
      request.send_flags = (i + 1) % group_ == 0 ? IBV_SEND_SIGNALED : 0;
      request.opcode = op_ == lab::VerbsOp::send    ? IBV_WR_SEND
                       : op_ == lab::VerbsOp::write ? IBV_WR_RDMA_WRITE
                                                    : IBV_WR_RDMA_READ;
      request.wr.rdma.remote_addr = link_.remote_address(qp, number % link_.remote_slots().per_qp);
      request.wr.rdma.rkey = link_.remote_key();
    }
    ibv_send_wr* bad = nullptr;
    if (const int number = ibv_post_send(link_.qp(qp), requests_.data(), &bad); number != 0)
      return system_error(number, std::string("post a ") + name_of(op_), Exit::traffic);
    queue.posted += count;
    return {};
  }

  lab::VerbsOp op_;
  std::uint64_t depth_;
  EndpointSpec spec_;
  Payload payload_;
  VerbsLink link_;
  std::vector<Queue> queues_;
  std::uint64_t group_;
  std::vector<ibv_send_wr> requests_;
  std::vector<ibv_sge> places_;
  StatusCounts counts_;
};

/// The end whose memory is written or read, or that receives.
class VerbsTarget : public Worker {
public:
  VerbsTarget(const EndpointSpec& spec, VerbsLink link)
      : op_(spec.traffic.verbs.op), spec_(spec), payload_(spec.seed, spec.traffic.message_bytes),
        link_(std::move(link)), queues_(spec.traffic.verbs.qps)
  {
    for (Queue& queue : queues_) queue.posted = receives_of(spec.traffic.verbs);
    if (op_ != lab::VerbsOp::read) return;
    for (std::uint64_t qp = 0; qp < queues_.size(); ++qp) {
      for (std::uint64_t slot = 0; slot < link_.slots().per_qp; ++slot) {
        payload_.fill(link_.slot(qp, slot));
        payload_.stamp(link_.slot(qp, slot), qp, slot, 0);
      }
    }
  }

  VerbsLink& link() { return link_; }
  [[nodiscard]] std::vector<StreamId> streams() const override { return link_.streams(); }

  Result<record::Flow> run(const Schedule& schedule) override
  {
    record::Flow flow = empty_flow(spec_, schedule);
    flow.path_mtu = link_.path_mtu();
    const std::uint64_t deadline = schedule.window_end_ns + drain_budget_ns(spec_.traffic);
    Meter meter(flow, schedule, payload_.bytes(), queues_.size());
    if (op_ == lab::VerbsOp::send) {
      if (const Status status = receive_until_told(deadline, meter, flow);
          !status && flow.outcome == "ok")
        flow.outcome = status.error().message();
    }
    // For WRITE and READ this process sleeps here until all is over: that is the point of one-sided
    // operations.
    const auto message = link_.oob().receive(deadline);
    const auto totals =
        message ? from_json_value<Totals>(*message, "totals") : Result<Totals>(message.error());
    if (!totals) {
      if (flow.outcome == "ok") flow.outcome = totals.error().message();
    } else if (op_ == lab::VerbsOp::send) {
      TRY(receive_rest(meter, flow));
      compare(*totals, flow);
    } else if (op_ == lab::VerbsOp::write) {
      check_ring(*totals, meter);
    }
    if (op_ == lab::VerbsOp::send)
      for (std::uint64_t qp = 0; qp < queues_.size(); ++qp)
        check_until(qp, queues_[qp].received, meter);
    if (op_ != lab::VerbsOp::send) flow.bytes_per_stream.clear();
    counts_.write(flow, IBV_WC_SUCCESS + 1);
    return flow;
  }

private:
  /// One QP's receives: number n is in slot n % ring.
  struct Queue {
    std::uint64_t posted = 0;
    std::uint64_t received = 0;
    std::uint64_t checked = 0; ///< of the received
  };

  Status receive_until_told(std::uint64_t deadline, Meter& meter, record::Flow& flow)
  {
    while (true) {
      TRY_ASSIGN(const Completions found, link_.wait(deadline, true));
      if (found.list.empty()) return {};
      TRY(take(found.list, meter, flow));
    }
  }

  /// What the initiator knows to be received is in the queue by now: rxe acknowledges after it
  /// completes.
  Status receive_rest(Meter& meter, record::Flow& flow)
  {
    while (true) {
      TRY_ASSIGN(const Completions found, link_.poll());
      if (found.list.empty()) return {};
      TRY(take(found.list, meter, flow));
    }
  }

  Status take(std::span<const ibv_wc> list, Meter& meter, record::Flow& flow)
  {
    const std::uint64_t now = monotonic_ns();
    for (const ibv_wc& wc : list) {
      const std::uint64_t qp = VerbsLink::qp_of(wc.wr_id);
      const std::uint64_t slot = VerbsLink::slot_of(wc.wr_id);
      counts_.add(wc.status);
      Queue& queue = queues_[qp];
      if (wc.status != IBV_WC_SUCCESS) {
        if (flow.outcome == "ok")
          flow.outcome = failure("receive", queue.received, queues_.size(), qp, wc.status);
        continue;
      }
      if (wc.byte_len != payload_.bytes() && flow.outcome == "ok")
        flow.outcome = "a message of " + std::to_string(wc.byte_len) + " bytes was received";
      ++queue.received;
      const std::uint64_t sent = Payload::sent_ns(link_.slot(qp, slot));
      meter.deliver(qp, now, sent < now ? now - sent : 0);
      // The next receive takes the next slot; what is in there was received a whole ring ago.
      const std::uint64_t ring = link_.slots().per_qp;
      if (queue.posted >= ring) check_until(qp, queue.posted - ring + 1, meter);
      TRY(link_.post_receive(qp, queue.posted++ % ring));
    }
    return {};
  }

  /// SEND: checks what was received on a QP up to message `end`; receives complete in their order.
  void check_until(std::uint64_t qp, std::uint64_t end, Meter& meter)
  {
    for (std::uint64_t& number = queues_[qp].checked; number < end; ++number) {
      const std::byte* message = link_.slot(qp, number % link_.slots().per_qp);
      meter.checked(payload_.check(message, qp, number));
    }
  }

  void compare(const Totals& totals, record::Flow& flow)
  {
    for (std::size_t qp = 0; qp < queues_.size() && flow.outcome == "ok"; ++qp) {
      if (qp < totals.completed.size() && queues_[qp].received >= totals.completed[qp] &&
          queues_[qp].received <= totals.posted[qp])
        continue;
      flow.outcome = "QP " + std::to_string(qp) + ": " + std::to_string(queues_[qp].received) +
                     " messages were received, but the initiator knows of another number";
    }
  }

  /// Each slot must hold the last message that was written to it, unless that one was never
  /// acknowledged.
  void check_ring(const Totals& totals, Meter& meter)
  {
    const std::uint64_t ring = link_.slots().per_qp;
    for (std::size_t qp = 0; qp < totals.posted.size() && qp < queues_.size(); ++qp) {
      const std::uint64_t posted = totals.posted[qp];
      for (std::uint64_t slot = 0; slot < std::min(ring, posted); ++slot) {
        const std::uint64_t last = slot + (posted - 1 - slot) / ring * ring;
        if (last < totals.completed[qp])
          meter.checked(payload_.check(link_.slot(qp, slot), qp, last));
      }
    }
  }

  lab::VerbsOp op_;
  EndpointSpec spec_;
  Payload payload_;
  VerbsLink link_;
  std::vector<Queue> queues_;
  StatusCounts counts_;
};

/// Both ends have their buffers ready and their QPs in RTS when this returns.
template <typename End>
Result<std::unique_ptr<Worker>> connect(const EndpointSpec& spec, std::uint64_t deadline_ns)
{
  TRY_ASSIGN(VerbsLink link, VerbsLink::connect(spec, deadline_ns));
  auto end = std::make_unique<End>(spec, std::move(link));
  TRY_ASSIGN(const Json ready, end->link().oob().exchange(Json{{"ready", true}}, deadline_ns));
  return std::unique_ptr<Worker>(std::move(end));
}

} // namespace

Result<std::unique_ptr<Worker>> make_verbs_worker(const EndpointSpec& spec,
                                                  std::uint64_t deadline_ns)
{
  TRY(check_message_size(spec.traffic));
  return spec.role == Role::initiator ? connect<VerbsInitiator>(spec, deadline_ns)
                                      : connect<VerbsTarget>(spec, deadline_ns);
}

} // namespace rdmalab::traffic
