#pragma once

#include "base/result.h"
#include "traffic/endpoint.h"

#include <cstdint>
#include <memory>
#include <vector>

struct rdma_cm_event;
struct rdma_cm_id;
struct rdma_event_channel;

namespace rdmalab::traffic {

/// What the two ends' connection managers agreed on for one QP.
struct CmTerms {
  std::uint32_t local_psn = 0;
  std::uint32_t peer_qp = 0;
  std::uint32_t peer_psn = 0;
};

/// Connects QPs by the RDMA connection manager (librdmacm, rdma_cm(7)). Over RoCE the words of a
/// handshake go as management datagrams through the fabric, and the QPs stay the caller's, which
/// brings them to RTS between negotiate() and confirm() (rdma_establish(3)). Over iWARP it opens a
/// TCP connection for each QP, asks in its first bytes (MPA, RFC 5044 section 7) and brings the QP
/// to RTS itself: establish(). Move-only.
class ConnectionManager {
public:
  /// At a target: listens; before the initiator is told to come.
  static Result<ConnectionManager> open(const EndpointSpec& spec);

  /// For the next QP, in the same order at both ends. Initiator: resolves address and route, asks,
  /// and has the target's answer. Target: has the initiator's question. `reads`: outstanding READs
  /// and atomics.
  Result<CmTerms> negotiate(std::uint32_t qp_number, std::uint8_t reads, std::uint64_t deadline_ns);
  /// The QP of the last call is in RTS: tells the peer so, at a target also waits until it is.
  Status confirm(std::uint64_t deadline_ns);
  /// iWARP, for the next QP, in the same order at both ends: gives this end's TCP port.
  Result<std::uint16_t> establish(std::uint32_t qp_number, std::uint8_t reads,
                                  std::uint64_t deadline_ns);

private:
  struct ChannelCloser {
    void operator()(rdma_event_channel* channel) const;
  };
  struct IdDestroyer {
    void operator()(rdma_cm_id* id) const;
  };
  using Id = std::unique_ptr<rdma_cm_id, IdDestroyer>;

  explicit ConnectionManager(const EndpointSpec& spec) : spec_(spec) {}
  /// The next event has to be of a kind (enum rdma_cm_event_type). Gives its id.
  Result<rdma_cm_id*> await(int kind, const char* what, std::uint64_t deadline_ns);
  /// An initiator's next id, with the way to the peer resolved.
  Result<rdma_cm_id*> resolve(std::uint64_t deadline_ns);
  [[nodiscard]] std::uint16_t port() const;

  EndpointSpec spec_;
  std::unique_ptr<rdma_event_channel, ChannelCloser> channel_;
  Id listener_;
  std::vector<Id> ids_; ///< one per QP; while they live, so does the connection
  std::uint32_t qp_number_ = 0;
  std::uint8_t reads_ = 1;
};

} // namespace rdmalab::traffic
