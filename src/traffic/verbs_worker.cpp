#include "base/clock.h"
#include "traffic/drain.h"
#include "traffic/ending.h"
#include "traffic/meter.h"
#include "traffic/mistakes.h"
#include "traffic/verbs_ends.h"

#include <algorithm>

namespace rdmalab::traffic {

namespace {

/// How long an initiator waits for a target that never tells: long beside any exchange, short
/// beside a test.
constexpr std::uint64_t silence_ns = 1'000'000'000;

class Unconnected : public Worker {
public:
  Unconnected(const EndpointSpec& spec, VerbsLink link, Status why)
      : spec_(spec), link_(std::move(link)), why_(std::move(why))
  {}

  [[nodiscard]] std::vector<StreamId> streams() const override { return link_.streams(); }

  Result<record::Flow> run(const Schedule& schedule) override
  {
    record::Flow flow = empty_flow(spec_, schedule);
    if (!why_) end_with(flow, "connect", why_.error());
    sleep_until_ns(schedule.window_end_ns);
    flow.setup_ns = link_.setup_ns();
    flow.qp_states = link_.states(host_of(spec_));
    return flow;
  }

private:
  EndpointSpec spec_;
  VerbsLink link_;
  Status why_;
};

/// A traffic for which not getting connected is an outcome, and not a fault of the set-up.
bool may_stay_unconnected(const lab::Traffic& traffic)
{
  return traffic.verbs.mistake == lab::Mistake::no_exchange || traffic.ends == "connect";
}

} // namespace

std::unique_ptr<Worker> make_unconnected(const EndpointSpec& spec, VerbsLink link, Status why)
{
  return std::make_unique<Unconnected>(spec, std::move(link), std::move(why));
}

Result<std::unique_ptr<Worker>> make_verbs_worker(const EndpointSpec& spec,
                                                  std::uint64_t deadline_ns)
{
  TRY(check_message_size(spec.traffic));
  TRY_ASSIGN(VerbsLink link, VerbsLink::prepare(spec, deadline_ns));
  TRY(link.meet(spec, deadline_ns));
  if (makes(spec, Role::target, lab::Mistake::no_exchange))
    return make_unconnected(spec, std::move(link), {});
  const bool patient = !makes(spec, Role::initiator, lab::Mistake::no_exchange);
  Status joined =
      link.join(spec, patient ? deadline_ns : std::min(deadline_ns, monotonic_ns() + silence_ns));
  if (!joined && may_stay_unconnected(spec.traffic))
    return make_unconnected(spec, std::move(link), std::move(joined));
  TRY(std::move(joined));
  if (spec.role == Role::target) return make_target(spec, std::move(link), deadline_ns);
  return lab::operation_of(spec.traffic.verbs.op).local
             ? make_registrar(spec, std::move(link), deadline_ns)
             : make_initiator(spec, std::move(link), deadline_ns);
}

} // namespace rdmalab::traffic
