#include "analysis/recovery.h"
#include "base/json.h"

namespace rdmalab::analysis {

RDMALAB_JSON_ENUM(Trigger, {{Trigger::none, "none"},
                            {Trigger::nak, "nak"},
                            {Trigger::implied_nak, "implied-nak"},
                            {Trigger::rnr, "rnr"},
                            {Trigger::timer, "timer"},
                            {Trigger::fast_retransmit, "fast-retransmit"},
                            {Trigger::tail_probe, "tail-loss-probe"},
                            {Trigger::rto, "rto"},
                            {Trigger::unknown, "unknown"}})
RDMALAB_JSON(Loss, packet, time_ns, kind, position, transmission, payload, cause, stale_icrc,
             certain, episode)
RDMALAB_JSON(Answer, kind, packet, psn, sent_ns, arrived_ns)
RDMALAB_JSON(Round, trigger, packet, position, time_ns, quiet_ns)
RDMALAB_JSON(Episode, cause, kind, position, packet, begin_ns, end_ns, losses, by, answer, answers,
             rounds, nak_generation_ns, nak_reaction_ns, naks_ignored, recover_ns, packets_again,
             bytes_again, packets_thrown_away, bytes_thrown_away, packets_already_there,
             bytes_already_there)
RDMALAB_JSON(FlowRecovery, traffic, transport, flow, sender, receiver, from_start, packets, bytes,
             packets_again, bytes_again, icrc_drops, figures, losses, episodes, losses_left_out,
             episodes_left_out, check)
RDMALAB_JSON(RecoveryReport, version, traffic, flows, time, problems)
RDMALAB_JSON(Deviation, name, packet, count, why)
RDMALAB_JSON(Violation, rule, section, detail, packets)
RDMALAB_JSON(ProtocolCheck, checked, reason, checked_packets, violation, deviations)
RDMALAB_JSON(TimeShare, ns, ppm)
RDMALAB_JSON(TrafficTime, traffic, window_ns, link, replay, nak_wait, timer_wait, other)

} // namespace rdmalab::analysis
