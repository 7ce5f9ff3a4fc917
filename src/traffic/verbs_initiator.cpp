#include "base/clock.h"
#include "base/json.h"
#include "lab/operation.h"
#include "traffic/drain.h"
#include "traffic/ending.h"
#include "traffic/meter.h"
#include "traffic/mistakes.h"
#include "traffic/oob.h"
#include "traffic/payload.h"
#include "traffic/status_counts.h"
#include "traffic/verbs_ends.h"
#include "traffic/work_requests.h"

#include <algorithm>
#include <cstring>

namespace rdmalab::traffic {

namespace {

class VerbsInitiator : public Worker {
public:
  VerbsInitiator(const EndpointSpec& spec, VerbsLink link)
      : op_(lab::operation_of(spec.traffic.verbs.op)), depth_(spec.traffic.verbs.depth),
        most_(spec.traffic.verbs.messages != 0 ? spec.traffic.verbs.messages : UINT64_MAX),
        spec_(spec), payload_(spec.seed, payload_bytes(spec.traffic)), link_(std::move(link)),
        queues_(spec.traffic.verbs.qps), group_(lab::signal_every_of(spec.traffic.verbs)),
        requests_(spec)
  {
    for (Queue& queue : queues_) queue.posted_at.resize(depth_);
    if (op_.reads || op_.atomic) return;
    for (std::uint64_t qp = 0; qp < queues_.size(); ++qp)
      for (std::uint64_t slot = 0; slot < depth_; ++slot) payload_.fill(link_.slot(qp, slot));
  }

  VerbsLink& link() { return link_; }
  [[nodiscard]] std::vector<StreamId> streams() const override { return link_.streams(); }

  Result<record::Flow> run(const Schedule& schedule) override
  {
    record::Flow flow = empty_flow(spec_, schedule);
    flow.path_mtu = link_.path_mtu();
    flow.setup_ns = link_.setup_ns();
    Meter meter(flow, schedule, spec_.traffic.message_bytes, queues_.size());
    sleep_until_ns(schedule.start_ns);
    if (makes(spec_, Role::initiator, lab::Mistake::qp_error)) TRY(link_.break_off());
    if (const Status driven = drive(schedule, meter, flow); !driven)
      end_with(flow, "post", driven.error());
    flow.qp_states = link_.states(host_of(spec_));
    if (op_.reads)
      for (std::uint64_t qp = 0; qp < queues_.size(); ++qp)
        check_until(qp, queues_[qp].completed, meter);
    counts_.write(flow, IBV_WC_SUCCESS);
    if (op_.receives) flow.bytes_per_stream.clear(); // the target's to tell

    Totals totals;
    for (const Queue& queue : queues_) {
      flow.sent_messages += queue.posted;
      totals.posted.push_back(queue.posted);
      totals.completed.push_back(queue.completed);
    }
    totals.outcome = flow.outcome;
    const Status told =
        link_.oob().send(totals, schedule.window_end_ns + drain_budget_ns(spec_.traffic));
    if (!told) end_with(flow, "peer", told.error());
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
        end_with(flow, "peer", {}, "the target ended before the traffic did");
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
        end_with(flow, "drain", {},
                 "drain: " + std::to_string(in_flight) +
                     " messages were not acknowledged within the time that this traffic has after "
                     "the window");
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

  void complete(const ibv_wc& wc, std::uint64_t now, Meter& meter, record::Flow& flow)
  {
    const std::uint64_t qp = VerbsLink::qp_of(wc.wr_id);
    Queue& queue = queues_[qp];
    // Slots of messages in flight are all different, so the slot tells which of them this is.
    const std::uint64_t ahead =
        (WorkRequests::slot_of(wc.wr_id) + depth_ - queue.ended % depth_) % depth_;
    for (std::uint64_t i = 0; i < ahead; ++i) succeed(qp, now, meter);
    if (wc.status == IBV_WC_SUCCESS) return succeed(qp, now, meter);
    counts_.add(wc.status);
    end_with(flow, "completion", status_name(wc.status),
             failed_completion(op_.name, queue.ended, queues_.size(), qp, wc.status));
    if (!WorkRequests::more_follow(wc.wr_id)) ++queue.ended;
  }

  /// The oldest message in flight on a QP was acknowledged.
  void succeed(std::uint64_t qp, std::uint64_t now, Meter& meter)
  {
    Queue& queue = queues_[qp];
    const std::uint64_t number = queue.ended++;
    const std::uint64_t slot = number % depth_;
    ++queue.completed;
    counts_.add(IBV_WC_SUCCESS);
    if (op_.receives) return; // its delivery is the target's receive
    if (op_.atomic) check_old_value(qp, number, meter);
    meter.deliver(qp, now, now - queue.posted_at[slot]);
  }

  /// Each atomic of a QP adds one, so it finds its own number.
  void check_old_value(std::uint64_t qp, std::uint64_t number, Meter& meter)
  {
    std::uint64_t found = 0;
    std::memcpy(&found, link_.slot(qp, number % link_.slots().per_qp), sizeof found);
    meter.checked(found == number);
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
      const std::uint64_t left = most_ - queue.posted;
      if (left != 0 && room >= std::min(group_, left))
        TRY(post(qp, std::min(room / group_ * group_, left), meter));
    }
    return {};
  }

  /// Posts `count` messages of a QP as one list.
  Status post(std::uint64_t qp, std::uint64_t count, Meter& meter)
  {
    Queue& queue = queues_[qp];
    const std::uint64_t now = monotonic_ns();
    const std::uint64_t ring = link_.slots().per_qp;
    requests_.begin();
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t number = queue.posted + i;
      queue.posted_at[number % depth_] = now;
      if (op_.reads) {
        if (number >= ring) check_until(qp, number - ring + 1, meter);
      } else if (!op_.atomic) {
        payload_.stamp(link_.slot(qp, number % ring), qp, number, now);
      }
      requests_.add(link_, qp, number, now, (i + 1) % group_ == 0 || number + 1 == most_);
    }
    ibv_send_wr* bad = nullptr;
    if (const int number = ibv_post_send(link_.qp(qp), requests_.list(), &bad); number != 0)
      return system_error(number, std::string("post a ") + op_.name, Exit::traffic);
    queue.posted += count;
    return {};
  }

  const lab::Operation& op_;
  std::uint64_t depth_;
  std::uint64_t most_; ///< messages of a QP in all
  EndpointSpec spec_;
  Payload payload_;
  VerbsLink link_;
  std::vector<Queue> queues_;
  std::uint64_t group_; ///< messages that are posted together and of which only the last makes a
                        ///< completion when it succeeds: it stands for those before it
  WorkRequests requests_;
  StatusCounts counts_;
};

} // namespace

Result<std::unique_ptr<Worker>> make_initiator(const EndpointSpec& spec, VerbsLink link,
                                               std::uint64_t deadline_ns)
{
  auto end = std::make_unique<VerbsInitiator>(spec, std::move(link));
  TRY_ASSIGN(const Json ready, end->link().oob().exchange(Json{{"ready", true}}, deadline_ns));
  return std::unique_ptr<Worker>(std::move(end));
}

} // namespace rdmalab::traffic
