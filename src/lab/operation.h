#pragma once

#include "lab/lab.h"

namespace rdmalab::lab {

/// What a verbs operation is like.
struct Operation {
  VerbsOp op;
  const char* name; ///< as lab files write it
  bool receives;    ///< each message takes a receive of the target's, which sees it arrive
  bool lands;       ///< the payload lands in that receive; otherwise where the initiator says
  bool immediate;   ///< it carries 32 bits of immediate data
  bool notice;      ///< a SEND of its own follows the payload
  bool reads;       ///< payload flows from the target to the initiator
  bool atomic;      ///< on 8 bytes of the target's memory
  bool local;       ///< sends nothing
};

const Operation& operation_of(VerbsOp op);

/// Bytes of a SEND that follows a payload as its notice: number and send time of the message.
inline constexpr std::uint64_t notice_bytes = 16;
/// Bytes that an atomic works on.
inline constexpr std::uint64_t atomic_bytes = 8;

/// Extended headers of one message of `packets` packets in its data direction, bytes, beside what
/// each packet has anyway: RETH, ImmDt, AETH, AtomicETH, and DETH for each of UD's (IB
/// specification 9.3 and 9.4).
std::uint64_t extended_header_bytes(const Operation& op, Transport transport,
                                    std::uint64_t packets);

/// What iWARP adds to the payload of a TCP segment that carries a part of a WRITE or of a READ's
/// response: MPA's length and CRC, DDP's and RDMAP's tagged header (RFC 5044 section 4, RFC 5041
/// section 4.2). A SEND's header is four bytes longer.
inline constexpr std::uint64_t iwarp_framing_bytes = 2 + 14 + 4;

/// A READ of 8 bytes follows each message, or each group of messages that make one completion.
/// iWARP's completion of a SEND or WRITE says that TCP has taken it over; its READ comes back when
/// all that went before has arrived (RFC 5040 sections 5.4 and 5.5).
bool confirmed_by_read(const Verbs& verbs);

/// Names remote memory, and so needs its key and the right to use it.
inline bool one_sided(const Operation& op)
{
  return !op.lands;
}

} // namespace rdmalab::lab
