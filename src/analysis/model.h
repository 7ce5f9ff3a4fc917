#pragma once

#include "lab/lab.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What theory says that a loss rate leaves of a transport's throughput, to be printed beside the
/// measurement.
namespace rdmalab::analysis {

/// rxe sends at most so many packets ahead of the oldest unacknowledged one (rxe_param.h,
/// RXE_MAX_UNACKED_PSNS).
inline constexpr std::uint64_t rxe_window_packets = 128;

/// A tick of the kernels that rdmalab runs on (HZ=250, Debian's). Acknowledgement timers count in
/// ticks.
inline constexpr std::uint64_t jiffy_ns = 4'000'000;

/// Local ACK timeout: 4.096 us · 2^exponent (IB specification 9.7.6.1.3), rounded up to ticks.
/// Nothing for exponent 0, which means never.
std::optional<std::uint64_t> ack_timeout_ns(std::uint32_t exponent);

/// It acknowledges every so many packets, and at the end of a message (rxe_param.h,
/// RXE_MAX_PKT_PER_ACK).
inline constexpr std::uint64_t rxe_packets_per_ack = 64;
/// So many packets of a QP may wait below it for the wire (rxe_param.h,
/// RXE_INFLIGHT_SKBS_PER_QP_HIGH).
inline constexpr std::uint64_t rxe_packets_below = 64;

/// One RC queue pair as the go-back-N model sees it.
struct GoBackN {
  double loss = 0;               ///< share of data packets lost, independently
  double ack_packets = 1;        ///< from one acknowledgement to the next: of a message, at most 64
  double window_packets = 0;     ///< in flight when one is lost
  double timeout_seconds = 0;    ///< the ACK timeout
  double packets_per_second = 0; ///< of the unfaulted transfer
};

/// Retention of rxe's go-back-N. Between two acknowledgements lie s packets, and each has to get
/// through while it is the expected one, which takes 1/(1−p) tries: s·p/(1−p) losses that count.
/// The first of them, with probability 1−(1−p)^s, is told by a NAK and replays the W packets in
/// flight. Every other one waits for the timer: either it is the retransmission itself, for which
/// no second NAK is sent, or its NAK finds rxe retrying and is ignored until an ACK comes
/// (rxe_comp.c, COMPST_ERROR_RETRY: started_retry). Losses of ACKs and NAKs are left out.
///
///   retention = s / (s + (1−(1−p)^s)·W + (s·p/(1−p) − (1−(1−p)^s))·RTO·λ)
double go_back_n_retention(const GoBackN& qp);

/// Mathis, Semke, Mahdavi and Ott (CCR 27(3), 1997): 1.22 · MSS / (RTT · sqrt p), in bits/s, for
/// one Reno-like stream. Infinite without loss or round-trip time.
double mathis_bps(double mss_bytes, double rtt_seconds, double loss);

/// Packets that one QP of this traffic may have unacknowledged: its depth in packets, at most rxe's
/// window.
std::uint64_t packets_in_flight(const lab::Traffic& traffic, std::uint64_t packets_per_message);

struct Prediction {
  std::optional<double> retention;
  std::vector<std::string> notes; ///< the assumption, or how far the figure carries
};

/// The prediction for a traffic whose baseline was measured. Only where the faults that it meets
/// are plain random loss in its data direction, and for what the models describe: one RC QP that
/// sends or writes; TCP under reno or cubic. Otherwise there is none.
Prediction predict(const lab::Lab& lab, const lab::Traffic& traffic, double baseline_bps,
                   std::uint32_t payload);

} // namespace rdmalab::analysis
