#pragma once

#include "lab/operation.h"
#include "traffic/inbox.h"
#include "traffic/meter.h"
#include "traffic/oob.h"
#include "traffic/payload.h"
#include "traffic/receive_stock.h"
#include "traffic/status_counts.h"
#include "traffic/verbs_link.h"
#include "traffic/worker.h"

#include <span>
#include <vector>

namespace rdmalab::traffic {

/// A target that receives something for each message: the message itself (SEND), its immediate data
/// (WRITE with immediate), or a notice (WRITE and SEND).
class VerbsReceiver : public Worker {
public:
  VerbsReceiver(const EndpointSpec& spec, VerbsLink link);

  VerbsLink& link() { return link_; }
  [[nodiscard]] std::vector<StreamId> streams() const override { return link_.streams(); }
  Result<record::Flow> run(const Schedule& schedule) override;

private:
  Status receive_until_told(std::uint64_t deadline, Meter& meter, record::Flow& flow);
  Status receive_rest(Meter& meter, record::Flow& flow);
  Status take(std::span<const ibv_wc> list, Meter& meter, record::Flow& flow);
  void arrived(const ibv_wc& wc, Inbox::Place& place, std::uint64_t now, Meter& meter,
               record::Flow& flow);
  Status post_next(std::size_t queue, Meter& meter);
  Status post_lots(Meter& meter);
  void check(const Inbox::Place& place, Meter& meter);
  void check_all(Meter& meter);
  void compare(const Totals& totals, record::Flow& flow);
  [[nodiscard]] std::uint64_t qp_of(const ibv_wc& wc) const;

  const lab::Operation& op_;
  bool reliable_;
  bool check_late_; ///< a message stays where it is for as long as its receive's place
  EndpointSpec spec_;
  Payload payload_;
  VerbsLink link_;
  std::vector<std::uint64_t> received_; ///< by QP
  ReceiveStock stock_;
  std::vector<Inbox> inboxes_; ///< by receive queue
  StatusCounts counts_;
};

} // namespace rdmalab::traffic
