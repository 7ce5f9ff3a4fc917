#pragma once

#include "base/json_fwd.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rdmalab::analysis {

struct Timeline;
struct VerbsFlow;

/// The first rule of the specification that was broken.
struct Violation {
  std::string rule;                   ///< its text
  std::string section;                ///< of the IB specification vol. 1
  std::string detail;                 ///< what was seen instead
  std::vector<std::uint64_t> packets; ///< the packets that show it, numbered from 1
};
RDMALAB_JSON_DECLARE(Violation)

/// Something that rxe is known to do, or that a reader may wonder about; explained, not failed.
struct Deviation {
  std::string name;
  std::uint64_t packet = 0; ///< the first that shows it
  std::uint64_t count = 0;
  std::string why;
};
RDMALAB_JSON_DECLARE(Deviation)

/// Requester and responder of one direction of a QP, held against IB specification vol. 1, 9.7.
struct ProtocolCheck {
  bool checked = false;
  std::string reason; ///< why it was not checked
  std::uint64_t checked_packets = 0;
  std::optional<Violation> violation;
  std::vector<Deviation> deviations; ///< by name
};
RDMALAB_JSON_DECLARE(ProtocolCheck)

/// Follows the requester at the point where its packets enter and answers arrive, the responder
/// where requests arrive and its answers enter. `initiator_asks`: the initiator is the requester.
/// Stops at the first rule broken. The rules:
///   requester  PSNs of new requests follow each other (9.7.3); at most 2^23 outstanding (9.7.2);
///              after a NAK it goes back to the NAKed PSN or before (9.7.6); packets of a message
///              come in the order first, middle, last (9.7.3)
///   responder  acknowledges only what arrived in order (9.7.5); its ACKs don't go back (9.7.5); a
///              NAK of a sequence error names the expected PSN, follows a gap, and comes once until
///              that PSN arrives (9.7.5); read responses answer a request that arrived and follow
///              each other (9.7.5)
/// One ACK for many requests is legal.
ProtocolCheck check_protocol(const Timeline& timeline, const VerbsFlow& flow, bool initiator_asks);

} // namespace rdmalab::analysis
