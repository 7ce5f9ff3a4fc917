#include "traffic/verbs_receiver.h"

#include "base/clock.h"
#include "base/json.h"
#include "traffic/drain.h"
#include "traffic/ending.h"
#include "traffic/mistakes.h"
#include "traffic/notice.h"

#include <algorithm>

#include <arpa/inet.h>

namespace rdmalab::traffic {

namespace {

/// After its sender is done, nothing of an unreliable transport is on its way any more when so
/// long nothing has come; a link's delay is waited for on top.
constexpr std::uint64_t settle_ns = 20'000'000;

} // namespace

VerbsReceiver::VerbsReceiver(const EndpointSpec& spec, VerbsLink link)
    : op_(lab::operation_of(spec.traffic.verbs.op)), reliable_(reliable(spec.traffic.verbs)),
      check_late_(op_.lands || (reliable_ && !spec.traffic.verbs.srq)), spec_(spec),
      payload_(spec.seed, payload_bytes(spec.traffic)), link_(std::move(link)),
      received_(spec.traffic.verbs.qps), stock_(spec.traffic.verbs)
{
  // A message that is written to its place stays there until depth messages less than a ring have
  // followed; see slots.cpp.
  const std::uint64_t per_qp =
      link_.slots().per_qp - (op_.lands ? 0 : std::uint64_t{spec.traffic.verbs.depth});
  const std::uint64_t per_queue = per_qp * received_.size() / stock_.queues();
  inboxes_.assign(stock_.queues(), Inbox(static_cast<std::uint32_t>(per_queue)));
  for (Inbox& inbox : inboxes_)
    for (std::uint32_t i = 0; i < stock_.first(); ++i) inbox.take(); // the link has posted them
}

Result<record::Flow> VerbsReceiver::run(const Schedule& schedule)
{
  record::Flow flow = empty_flow(spec_, schedule);
  flow.path_mtu = link_.path_mtu();
  const std::uint64_t deadline = schedule.window_end_ns + drain_budget_ns(spec_.traffic);
  Meter meter(flow, schedule, payload_.bytes(), received_.size());
  if (makes(spec_, Role::target, lab::Mistake::deregistered)) link_.deregister();
  if (stock_.first() == 0)
    for (std::size_t queue = 0; queue < inboxes_.size(); ++queue)
      stock_.ran_empty(queue, schedule.start_ns);
  if (const Status status = receive_until_told(deadline, meter, flow); !status)
    end_with(flow, "post", status.error());
  const auto message = link_.oob().receive(deadline);
  const auto totals =
      message ? from_json_value<Totals>(*message, "totals") : Result<Totals>(message.error());
  if (!totals) {
    end_with(flow, "peer", totals.error());
  } else {
    TRY(receive_rest(meter, flow));
    compare(*totals, flow);
  }
  flow.qp_states = link_.states(host_of(spec_));
  check_all(meter);
  counts_.write(flow, IBV_WC_SUCCESS + 1);
  return flow;
}

Status VerbsReceiver::receive_until_told(std::uint64_t deadline, Meter& meter, record::Flow& flow)
{
  while (true) {
    TRY_ASSIGN(const Completions found, link_.wait(std::min(deadline, stock_.next_ns()), true));
    if (found.list.empty() && (found.peer_spoke || monotonic_ns() >= deadline)) return {};
    TRY(take(found.list, meter, flow));
    if (stock_.next_ns() != ReceiveStock::never) TRY(post_lots(meter));
  }
}

/// What the initiator of a reliable transport knows to be received is in the queue by now: rxe
/// acknowledges after it completes.
Status VerbsReceiver::receive_rest(Meter& meter, record::Flow& flow)
{
  while (true) {
    TRY_ASSIGN(const Completions found,
               reliable_ ? link_.poll() : link_.wait(monotonic_ns() + settle_ns, false));
    if (found.list.empty()) return {};
    TRY(take(found.list, meter, flow));
  }
}

std::uint64_t VerbsReceiver::qp_of(const ibv_wc& wc) const
{
  if (!spec_.traffic.verbs.srq) return VerbsLink::qp_of(wc.wr_id);
  const std::vector<StreamId>& ours = link_.streams();
  for (std::size_t qp = 0; qp < ours.size(); ++qp)
    if (ours[qp].qp_number == wc.qp_num) return qp;
  return 0;
}

Status VerbsReceiver::take(std::span<const ibv_wc> list, Meter& meter, record::Flow& flow)
{
  const std::uint64_t now = monotonic_ns();
  for (const ibv_wc& wc : list) {
    const std::uint64_t queue = VerbsLink::qp_of(wc.wr_id);
    Inbox& inbox = inboxes_[queue];
    Inbox::Place place;
    place.index = static_cast<std::uint32_t>(VerbsLink::slot_of(wc.wr_id));
    place.qp = static_cast<std::uint32_t>(qp_of(wc));
    counts_.add(wc.status);
    // rxe's word for a UC's message without an end, where the receive is a shared queue's.
    const bool lost = !reliable_ && wc.status == IBV_WC_REM_INV_REQ_ERR;
    if (wc.status != IBV_WC_SUCCESS && !lost) {
      end_with(
          flow, "completion", status_name(wc.status),
          failed_completion("receive", received_[place.qp], received_.size(), place.qp, wc.status));
      continue;
    }
    if (!lost) arrived(wc, place, now, meter, flow);
    inbox.put(place);
    if (stock_.at_once())
      TRY(post_next(queue, meter));
    else if (inbox.posted() == 0)
      stock_.ran_empty(queue, now);
  }
  return {};
}

/// Which message this is, and when it was sent. Over a reliable transport they come in order; of
/// another, each says its number.
void VerbsReceiver::arrived(const ibv_wc& wc, Inbox::Place& place, std::uint64_t now, Meter& meter,
                            record::Flow& flow)
{
  const std::uint64_t at = VerbsLink::qp_of(wc.wr_id);
  place.number = received_[place.qp]++;
  const auto told = static_cast<std::uint32_t>(ntohl(wc.imm_data));
  const std::byte* message = nullptr;
  std::uint64_t bytes = payload_.bytes();
  std::uint64_t sent = 0;
  if (op_.lands) {
    message = link_.slot(at, place.index);
    if (link_.slots().head != 0) bytes += grh_bytes;
    if (!reliable_) place.number = Payload::number(message);
    sent = Payload::sent_ns(message);
  } else if (op_.notice) {
    const Notice notice = Notice::read(link_.notice(at, place.index));
    bytes = sizeof notice;
    sent = notice.sent_ns;
    place.odd = notice.number != place.number;
  } else {
    if (!reliable_) place.number = told;
    message = link_.slot(place.qp, place.number % link_.slots().per_qp);
    sent = Payload::sent_ns(message);
  }
  // Immediate data has 32 bits.
  if (op_.immediate) place.odd = told != static_cast<std::uint32_t>(place.number);
  place.filled = true;
  if (wc.byte_len != bytes)
    end_with(flow, "completion", {},
             "a message of " + std::to_string(wc.byte_len) + " bytes was received");
  meter.deliver(place.qp, now, sent < now ? now - sent : 0);
  if (!check_late_) check(place, meter);
}

/// The next receive takes the place whose message came longest ago; that one is checked before.
Status VerbsReceiver::post_next(std::size_t queue, Meter& meter)
{
  const Inbox::Place place = inboxes_[queue].take();
  if (place.filled && check_late_) check(place, meter);
  return link_.post_receive(queue, place.index);
}

/// Posts what has become due.
Status VerbsReceiver::post_lots(Meter& meter)
{
  for (std::size_t queue = 0; queue < inboxes_.size(); ++queue)
    if (stock_.take(queue, monotonic_ns()))
      for (std::uint32_t i = 0; i < stock_.most(); ++i) TRY(post_next(queue, meter));
  return {};
}

void VerbsReceiver::check(const Inbox::Place& place, Meter& meter)
{
  const std::byte* message = op_.lands
                                 ? link_.slot(spec_.traffic.verbs.srq ? 0 : place.qp, place.index)
                                 : link_.slot(place.qp, place.number % link_.slots().per_qp);
  meter.checked(payload_.check(message, place.qp, place.number) && !place.odd);
}

void VerbsReceiver::check_all(Meter& meter)
{
  for (Inbox& inbox : inboxes_)
    while (inbox.free() != 0)
      if (const Inbox::Place place = inbox.take(); place.filled && check_late_) check(place, meter);
}

/// A reliable transport's two ends agree; of another's messages any may be lost.
void VerbsReceiver::compare(const Totals& totals, record::Flow& flow)
{
  for (std::size_t qp = 0; qp < received_.size(); ++qp) {
    const std::uint64_t received = received_[qp];
    if (!reliable_ || (qp < totals.completed.size() && received >= totals.completed[qp] &&
                       received <= totals.posted[qp]))
      continue;
    end_with(flow, "peer", {},
             "QP " + std::to_string(qp) + ": " + std::to_string(received) +
                 " messages were received, but the initiator knows of another number");
  }
}

} // namespace rdmalab::traffic
