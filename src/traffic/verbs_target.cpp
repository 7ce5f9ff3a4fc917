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
#include "traffic/verbs_receiver.h"

#include <cstring>

namespace rdmalab::traffic {

namespace {

/// The end whose memory is written, read or worked on by atomics, and that never notices.
class PassiveTarget : public Worker {
public:
  PassiveTarget(const EndpointSpec& spec, VerbsLink link)
      : op_(lab::operation_of(spec.traffic.verbs.op)), spec_(spec),
        payload_(spec.seed, payload_bytes(spec.traffic)), link_(std::move(link))
  {
    if (!op_.reads) return;
    for (std::uint64_t qp = 0; qp < spec.traffic.verbs.qps; ++qp) {
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
    Meter meter(flow, schedule, spec_.traffic.message_bytes, spec_.traffic.verbs.qps);
    if (makes(spec_, Role::target, lab::Mistake::deregistered)) link_.deregister();
    // This process sleeps here until all is over: that is the point of one-sided operations.
    const auto message =
        link_.oob().receive(schedule.window_end_ns + drain_budget_ns(spec_.traffic));
    const auto totals =
        message ? from_json_value<Totals>(*message, "totals") : Result<Totals>(message.error());
    if (!totals)
      end_with(flow, "peer", totals.error());
    else if (op_.atomic)
      check_counters(*totals, meter);
    else if (!op_.reads)
      check_ring(*totals, meter);
    flow.qp_states = link_.states(host_of(spec_));
    flow.bytes_per_stream.clear();
    return flow;
  }

private:
  /// Each slot must hold the last message that was written to it, unless that one was never
  /// acknowledged.
  void check_ring(const Totals& totals, Meter& meter)
  {
    const std::uint64_t ring = link_.slots().per_qp;
    for (std::size_t qp = 0; qp < totals.posted.size(); ++qp) {
      const std::uint64_t posted = totals.posted[qp];
      for (std::uint64_t slot = 0; slot < std::min(ring, posted); ++slot) {
        const std::uint64_t last = slot + (posted - 1 - slot) / ring * ring;
        if (last < totals.completed[qp])
          meter.checked(payload_.check(link_.slot(qp, slot), qp, last));
      }
    }
  }

  /// Each atomic adds one, so a QP's counter must stand at as many as were done. What was posted
  /// and not acknowledged may have been done.
  void check_counters(const Totals& totals, Meter& meter)
  {
    for (std::size_t qp = 0; qp < totals.posted.size(); ++qp) {
      std::uint64_t value = 0;
      std::memcpy(&value, link_.slot(qp, 0), sizeof value);
      if (value < totals.completed[qp] || value > totals.posted[qp]) meter.wrong();
    }
  }

  const lab::Operation& op_;
  EndpointSpec spec_;
  Payload payload_;
  VerbsLink link_;
};

template <typename End>
Result<std::unique_ptr<Worker>> ready(std::unique_ptr<End> end, std::uint64_t deadline_ns)
{
  TRY_ASSIGN(const Json ready, end->link().oob().exchange(Json{{"ready", true}}, deadline_ns));
  return std::unique_ptr<Worker>(std::move(end));
}

} // namespace

Result<std::unique_ptr<Worker>> make_target(const EndpointSpec& spec, VerbsLink link,
                                            std::uint64_t deadline_ns)
{
  if (lab::operation_of(spec.traffic.verbs.op).receives)
    return ready(std::make_unique<VerbsReceiver>(spec, std::move(link)), deadline_ns);
  return ready(std::make_unique<PassiveTarget>(spec, std::move(link)), deadline_ns);
}

} // namespace rdmalab::traffic
