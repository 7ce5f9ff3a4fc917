#pragma once

#include "analysis/protocol_check.h"
#include "analysis/recovery_figures.h"
#include "analysis/time_split.h"
#include "analysis/trace_flows.h"
#include "base/json_fwd.h"
#include "wire/trace.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What a trace says of losses and how the transports got over them. Passive values: JSON both
/// ways. PSNs are relative to the requester's first one, TCP's sequence numbers to the stream's
/// first; packets are numbered by their place in the trace, from 1. Times are ns on the trace's
/// clock. What isn't in the trace is null, never invented.
namespace rdmalab::analysis {

struct Timelines;

/// What made a sender send again.
enum class Trigger {
  none,            ///< nothing was sent again: a later packet made up for the loss
  nak,             ///< NAK of a PSN sequence error
  implied_nak,     ///< a response that came out of order (IB specification vol. 1, 9.7.6)
  rnr,             ///< the receiver was not ready
  timer,           ///< RC's local ACK timeout
  fast_retransmit, ///< TCP: duplicate acknowledgements or SACK (RFC 6675, RFC 8985)
  tail_probe,      ///< TCP: tail-loss probe (RFC 8985, section 7)
  rto,             ///< TCP: retransmission timeout (RFC 6298)
  unknown,         ///< the trace doesn't say
};
RDMALAB_JSON_DECLARE(Trigger)

/// A packet that entered and that its receiver never read.
struct Loss {
  std::uint64_t packet = 0;
  std::uint64_t time_ns = 0;      ///< when it entered
  std::string kind;               ///< packet class: "data", "nak", …; TCP: "data" or "ack"
  std::int64_t position = 0;      ///< PSN, TCP: sequence number
  std::uint32_t transmission = 1; ///< 1: the first time that this position was sent
  std::uint32_t payload = 0;      ///< bytes
  std::string cause;       ///< the fault rule's name; "netem" or "unknown" when none fired on it
  bool stale_icrc = false; ///< arrived corrupted; the receiver dropped it without counting it
  bool certain = true; ///< false: the trace lost records, so the packet may have arrived after all
  std::optional<std::uint64_t> episode; ///< index; null: nothing had to be sent again for it
};
RDMALAB_JSON_DECLARE(Loss)

/// What the receiver told the sender while something was missing.
struct Answer {
  std::string kind; ///< "nak", "rnr"
  std::uint64_t packet = 0;
  std::int64_t psn = 0;
  std::uint64_t sent_ns = 0;
  std::optional<std::uint64_t> arrived_ns; ///< null: it was lost, too
};
RDMALAB_JSON_DECLARE(Answer)

/// The sender went back and sent again.
struct Round {
  Trigger trigger = Trigger::unknown;
  std::uint64_t packet = 0; ///< the first that was sent again
  std::int64_t position = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t quiet_ns = 0; ///< since the sender last sent something or learned something new
};
RDMALAB_JSON_DECLARE(Round)

/// From the first loss to the moment when the receiver has everything that was sent before the
/// sender first went back. If it goes back again until then, what was lost in the meantime belongs
/// to the same episode; what is lost behind that begins the next one, even before this one ends.
struct Episode {
  std::string cause; ///< of the first loss; "reordered": overtaken, not lost; "no loss seen"
  std::string kind;  ///< of the packet that was lost first
  std::int64_t position = 0; ///< of the first loss
  std::uint64_t packet = 0;
  std::uint64_t begin_ns = 0;
  std::optional<std::uint64_t> end_ns; ///< null: the trace ends before
  std::uint64_t losses = 0;            ///< all that were lost until the end and needed
  Trigger by = Trigger::none; ///< a timer if any round needed one, otherwise what began the last
  std::string answer = "silence"; ///< the receiver's first: "nak", "rnr", TCP: "sack", "dupack"
  std::vector<Answer> answers;    ///< RC only
  std::vector<Round> rounds;
  /// The packet that revealed the gap arrived at the responder → the NAK entered.
  std::optional<std::uint64_t> nak_generation_ns;
  /// The NAK (or what implied it, or TCP's first sign) arrived at the sender → it went back.
  std::optional<std::uint64_t> nak_reaction_ns;
  /// NAKs that arrived and that the sender did not act on until its timer fired. rxe ignores a NAK
  /// while it retries (rxe_comp.c, COMPST_ERROR_RETRY: started_retry) until an ACK moves it on.
  std::uint64_t naks_ignored = 0;
  std::optional<std::uint64_t> recover_ns; ///< begin to end
  /// Sent again in its rounds, to the end of the last one, which may lie behind the episode's.
  std::uint64_t packets_again = 0;
  std::uint64_t bytes_again = 0;         ///< payload
  std::uint64_t packets_thrown_away = 0; ///< of packets_again: came after the gap before
  std::uint64_t bytes_thrown_away = 0;
  std::uint64_t packets_already_there = 0; ///< of packets_again: the receiver had them
  std::uint64_t bytes_already_there = 0;
};
RDMALAB_JSON_DECLARE(Episode)

/// One direction of a flow: the requests of one end of a QP and what answers them, or the data of
/// one end of a TCP stream.
struct FlowRecovery {
  std::string traffic;
  std::string transport;           ///< "rc" or "tcp"
  std::uint32_t flow = 0;          ///< QP or stream of the traffic
  std::string sender;              ///< the requester
  std::string receiver;            ///< the responder
  bool from_start = true;          ///< false: the trace begins in the middle of the flow
  std::uint64_t packets = 0;       ///< with payload (and READ and atomic requests), first time
  std::uint64_t bytes = 0;         ///< payload, first time
  std::uint64_t packets_again = 0; ///< the same, sent again
  std::uint64_t bytes_again = 0;
  std::uint64_t icrc_drops = 0; ///< derived: the kernel does not count them
  RecoverySummary figures;
  std::vector<Loss> losses;
  std::vector<Episode> episodes;
  std::uint64_t losses_left_out = 0; ///< by excerpt(), at the end of the list
  std::uint64_t episodes_left_out = 0;
  ProtocolCheck check; ///< RC only
};
RDMALAB_JSON_DECLARE(FlowRecovery)

struct RecoveryReport {
  std::uint32_t version = 1;
  std::vector<RecoverySummary> traffic; ///< all flows of each
  std::vector<FlowRecovery> flows;
  std::vector<TrafficTime> time;     ///< where each traffic's window went
  std::vector<std::string> problems; ///< what the trace can't say, and why
};
RDMALAB_JSON_DECLARE(RecoveryReport)

/// Everything that a trace says of recovery. Pure and total: a trace that says nothing gives a
/// report that says so.
RecoveryReport analyse_recovery(const wire::Trace& trace, const TraceFlows& flows);
/// The same of a trace that is sorted already.
RecoveryReport analyse_recovery(const wire::Trace& trace, const TraceFlows& flows,
                                const Timelines& timelines);

/// "NAK", "time-out", "tail-loss probe".
std::string trigger_words(Trigger trigger);
/// Whether a timer of the sender ended the wait.
bool is_timer(Trigger trigger);

} // namespace rdmalab::analysis
