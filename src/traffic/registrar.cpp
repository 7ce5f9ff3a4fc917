#include "base/clock.h"
#include "base/json.h"
#include "traffic/ending.h"
#include "traffic/meter.h"
#include "traffic/mistakes.h"
#include "traffic/oob.h"
#include "traffic/verbs_ends.h"

#include <algorithm>

namespace rdmalab::traffic {

namespace {

/// Registers a message's memory and takes it back, again and again: no packet is sent, and the
/// latency of a "message" is what that costs. The pages are there already; the kernel pins and maps
/// them each time.
class Registrar : public Worker {
public:
  Registrar(const EndpointSpec& spec, VerbsLink link) : spec_(spec), link_(std::move(link)) {}

  VerbsLink& link() { return link_; }
  [[nodiscard]] std::vector<StreamId> streams() const override { return link_.streams(); }

  Result<record::Flow> run(const Schedule& schedule) override
  {
    record::Flow flow = empty_flow(spec_, schedule);
    flow.setup_ns = link_.setup_ns();
    Meter meter(flow, schedule, 0, spec_.traffic.verbs.qps); // nothing is delivered
    sleep_until_ns(schedule.start_ns);
    if (const Status status = register_until(schedule.window_end_ns, meter, flow); !status)
      end_with(flow, "post", status.error());
    sleep_until_ns(schedule.window_end_ns);
    flow.qp_states = link_.states(host_of(spec_));
    const Totals nothing{{}, {}, flow.outcome};
    if (const Status told = link_.oob().send(nothing, monotonic_ns() + patience_ns); !told)
      end_with(flow, "peer", told.error());
    return flow;
  }

private:
  static constexpr std::uint64_t patience_ns = 1'000'000'000;

  Status register_until(std::uint64_t end_ns, Meter& meter, record::Flow& flow)
  {
    const std::uint64_t most =
        spec_.traffic.verbs.messages != 0 ? spec_.traffic.verbs.messages : UINT64_MAX;
    std::uint64_t begin = monotonic_ns();
    while (flow.sent_messages < most && begin < end_ns) {
      Mr region(
          ibv_reg_mr(link_.pd(), link_.slot(0, 0), spec_.traffic.message_bytes, access_of(spec_)));
      if (!region)
        return system_error("register " + std::to_string(spec_.traffic.message_bytes) + " bytes",
                            Exit::traffic);
      region.reset();
      const std::uint64_t now = monotonic_ns();
      ++flow.sent_messages;
      meter.deliver(0, now, now - begin);
      begin = now;
    }
    return {};
  }

  EndpointSpec spec_;
  VerbsLink link_;
};

} // namespace

Result<std::unique_ptr<Worker>> make_registrar(const EndpointSpec& spec, VerbsLink link,
                                               std::uint64_t deadline_ns)
{
  auto end = std::make_unique<Registrar>(spec, std::move(link));
  TRY_ASSIGN(const Json ready, end->link().oob().exchange(Json{{"ready", true}}, deadline_ns));
  return std::unique_ptr<Worker>(std::move(end));
}

} // namespace rdmalab::traffic
