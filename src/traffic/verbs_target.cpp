#include "base/clock.h"
#include "base/json.h"
#include "lab/operation.h"
#include "traffic/drain.h"
#include "traffic/ending.h"
#include "traffic/meter.h"
#include "traffic/mistakes.h"
#include "traffic/oob.h"
#include "traffic/payload.h"
#include "traffic/receive_stock.h"
#include "traffic/status_counts.h"
#include "traffic/verbs_ends.h"

#include <algorithm>

namespace rdmalab::traffic {

namespace {

class VerbsTarget : public Worker {
public:
  VerbsTarget(const EndpointSpec& spec, VerbsLink link)
      : op_(lab::operation_of(spec.traffic.verbs.op)), spec_(spec),
        payload_(spec.seed, spec.traffic.message_bytes), link_(std::move(link)),
        queues_(spec.traffic.verbs.qps), stock_(spec.traffic.verbs)
  {
    for (Queue& queue : queues_) queue.posted = stock_.first();
    if (!op_.reads) return;
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
    if (makes(spec_, Role::target, lab::Mistake::deregistered)) link_.deregister();
    if (op_.receives) {
      if (stock_.first() == 0)
        for (std::uint64_t qp = 0; qp < queues_.size(); ++qp)
          stock_.ran_empty(qp, schedule.start_ns);
      if (const Status status = receive_until_told(deadline, meter, flow); !status)
        end_with(flow, "post", status.error());
    }
    // For WRITE and READ this process sleeps here until all is over: that is the point of one-sided
    // operations.
    const auto message = link_.oob().receive(deadline);
    const auto totals =
        message ? from_json_value<Totals>(*message, "totals") : Result<Totals>(message.error());
    if (!totals) {
      end_with(flow, "peer", totals.error());
    } else if (op_.receives) {
      TRY(receive_rest(meter, flow));
      compare(*totals, flow);
    } else if (!op_.reads) {
      check_ring(*totals, meter);
    }
    flow.qp_states = link_.states(host_of(spec_));
    if (op_.receives)
      for (std::uint64_t qp = 0; qp < queues_.size(); ++qp)
        check_until(qp, queues_[qp].received, meter);
    if (!op_.receives) flow.bytes_per_stream.clear();
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
      TRY_ASSIGN(const Completions found, link_.wait(std::min(deadline, stock_.next_ns()), true));
      if (found.list.empty() && (found.peer_spoke || monotonic_ns() >= deadline)) return {};
      TRY(take(found.list, meter, flow));
      if (stock_.next_ns() != ReceiveStock::never) TRY(post_lots(meter));
    }
  }

  /// Posts what has become due.
  Status post_lots(Meter& meter)
  {
    for (std::uint64_t qp = 0; qp < queues_.size(); ++qp)
      if (stock_.take(qp, monotonic_ns()))
        for (std::uint32_t i = 0; i < stock_.lot(); ++i) TRY(post_next(qp, meter));
    return {};
  }

  /// The next receive takes the next slot; what is in there was received a whole ring ago.
  Status post_next(std::uint64_t qp, Meter& meter)
  {
    Queue& queue = queues_[qp];
    const std::uint64_t ring = link_.slots().per_qp;
    if (queue.posted >= ring) check_until(qp, queue.posted - ring + 1, meter);
    return link_.post_receive(qp, queue.posted++ % ring);
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
        end_with(flow, "completion", status_name(wc.status),
                 failed_completion("receive", queue.received, queues_.size(), qp, wc.status));
        continue;
      }
      if (wc.byte_len != payload_.bytes())
        end_with(flow, "completion", {},
                 "a message of " + std::to_string(wc.byte_len) + " bytes was received");
      ++queue.received;
      const std::uint64_t sent = Payload::sent_ns(link_.slot(qp, slot));
      meter.deliver(qp, now, sent < now ? now - sent : 0);
      if (stock_.at_once())
        TRY(post_next(qp, meter));
      else if (queue.received == queue.posted)
        stock_.ran_empty(qp, now);
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
    for (std::size_t qp = 0; qp < queues_.size(); ++qp) {
      if (qp < totals.completed.size() && queues_[qp].received >= totals.completed[qp] &&
          queues_[qp].received <= totals.posted[qp])
        continue;
      end_with(flow, "peer", {},
               "QP " + std::to_string(qp) + ": " + std::to_string(queues_[qp].received) +
                   " messages were received, but the initiator knows of another number");
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

  const lab::Operation& op_;
  EndpointSpec spec_;
  Payload payload_;
  VerbsLink link_;
  std::vector<Queue> queues_;
  ReceiveStock stock_;
  StatusCounts counts_;
};

} // namespace

Result<std::unique_ptr<Worker>> make_target(const EndpointSpec& spec, VerbsLink link,
                                            std::uint64_t deadline_ns)
{
  auto end = std::make_unique<VerbsTarget>(spec, std::move(link));
  TRY_ASSIGN(const Json ready, end->link().oob().exchange(Json{{"ready", true}}, deadline_ns));
  return std::unique_ptr<Worker>(std::move(end));
}

} // namespace rdmalab::traffic
