#include "analysis/model.h"

#include "analysis/path.h"
#include "analysis/wire_rate.h"
#include "analysis/words.h"
#include "lab/operation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::analysis {
namespace {

/// The share of data packets that is lost, if plain loss in the data direction is all that the
/// traffic meets.
std::optional<double> plain_loss(const lab::Lab& lab, const lab::Traffic& traffic)
{
  const std::string& source = data_source(traffic);
  const std::string& sink = data_sink(traffic);
  double kept = 1;
  bool any = false;
  for (const lab::Fault& fault : lab.faults) {
    if (meets(fault, sink, source)) return std::nullopt;
    if (!meets(fault, source, sink)) continue;
    if (fault.kind != lab::FaultKind::loss || fault.correlation_ppm != 0) return std::nullopt;
    kept *= 1 - static_cast<double>(fault.rate_ppm) / 1e6;
    any = true;
  }
  if (!any || kept <= 0) return std::nullopt;
  return 1 - kept;
}

Prediction predict_rc(const lab::Traffic& traffic, double loss, double baseline_bps,
                      std::uint32_t payload)
{
  const lab::Operation& op = lab::operation_of(traffic.verbs.op);
  if (traffic.verbs.qps != 1 || op.reads || op.atomic ||
      traffic.verbs.transport != lab::Transport::rc || traffic.message_bytes == 0)
    return {};
  const auto timeout = ack_timeout_ns(traffic.verbs.timeout);
  if (!timeout) return {};
  const WireCost message = wire_cost(traffic, payload);
  const std::uint64_t window =
      std::min(packets_in_flight(traffic, message.packets), rxe_packets_below);
  const double packets_per_second = baseline_bps / 8 / static_cast<double>(traffic.message_bytes) *
                                    static_cast<double>(message.packets);
  const std::uint64_t acked = std::min(message.packets, rxe_packets_per_ack);
  const GoBackN qp{loss, static_cast<double>(acked), static_cast<double>(window),
                   static_cast<double>(*timeout) / 1e9, packets_per_second};
  return {
      go_back_n_retention(qp),
      {fmt::format("{}: predicted by rdmalab's model of rxe's go-back-N (docs/measures.md) with a "
                   "loss of {}, an ACK every {} packets, {} in flight, a time-out of {} and {} "
                   "packets/s.",
                   traffic.name, percent_words(loss), acked, window,
                   time_words(static_cast<double>(*timeout)),
                   count_words(static_cast<std::uint64_t>(std::llround(packets_per_second))))}};
}

Prediction predict_tcp(const lab::Lab& lab, const lab::Traffic& traffic, double loss,
                       double baseline_bps, std::uint32_t payload)
{
  if (traffic.tcp.congestion != "reno" && traffic.tcp.congestion != "cubic") return {};
  if (traffic.tcp.depth != 0) return {}; // the congestion window need not be full
  // Beyond, time-outs decide, which Mathis' model does not know (Padhye et al. 1998, figure 7).
  constexpr double most_loss = 0.02;
  if (loss > most_loss) return {};
  const WireCost segment = wire_cost(traffic, payload);
  const std::uint32_t streams = over_iwarp(traffic) ? traffic.verbs.qps : traffic.tcp.streams;
  const double rtt = static_cast<double>(round_trip_ns(lab, traffic, segment.wire_bytes)) / 1e9;
  const double ceiling = mathis_bps(payload, rtt, loss) * streams;
  const double surviving = baseline_bps * (1 - loss);
  Prediction prediction{std::min(ceiling, surviving) / baseline_bps, {}};
  if (!std::isfinite(ceiling)) return prediction;
  // In bits: the bandwidth-delay product up to which loss costs TCP no more than the lost packets
  // themselves.
  const double valid_bits = 1.22 * payload * 8 * streams / std::sqrt(loss);
  prediction.notes.push_back(fmt::format(
      "{}: at {} loss and a round trip of {} TCP can carry {} (Mathis), {} than its {} here; that "
      "it shrugs off this "
      "loss is true only while round trip × rate stays below {} KiB (here {}).",
      traffic.name, percent_words(loss), time_words(rtt * 1e9), rate_words(ceiling),
      ceiling >= surviving ? "more" : "less", rate_words(baseline_bps),
      three_digits(valid_bits / 8 / 1024), three_digits(rtt * baseline_bps / 8 / 1024)));
  return prediction;
}

} // namespace

std::optional<std::uint64_t> ack_timeout_ns(std::uint32_t exponent)
{
  if (exponent == 0) return std::nullopt;
  const std::uint64_t exact = 4096ULL << std::min(exponent, 31U);
  return (exact + jiffy_ns - 1) / jiffy_ns * jiffy_ns;
}

double go_back_n_retention(const GoBackN& qp)
{
  const double p = qp.loss;
  if (p >= 1) return 0;
  const double s = qp.ack_packets;
  const double told = 1 - std::pow(1 - p, s);
  const double waited = s * p / (1 - p) - told;
  return s / (s + told * qp.window_packets + waited * qp.timeout_seconds * qp.packets_per_second);
}

double mathis_bps(double mss_bytes, double rtt_seconds, double loss)
{
  if (!(loss > 0) || !(rtt_seconds > 0)) return std::numeric_limits<double>::infinity();
  return 1.22 * mss_bytes * 8 / (rtt_seconds * std::sqrt(loss));
}

std::uint64_t packets_in_flight(const lab::Traffic& traffic, std::uint64_t packets_per_message)
{
  return std::min(rxe_window_packets, traffic.verbs.depth * packets_per_message);
}

Prediction predict(const lab::Lab& lab, const lab::Traffic& traffic, double baseline_bps,
                   std::uint32_t payload)
{
  if (traffic.kind == lab::TrafficKind::command) return {};
  const auto loss = plain_loss(lab, traffic);
  if (!loss || !(baseline_bps > 0) || payload == 0) return {};
  if (*loss <= 0) return {1.0, {}};
  return rides_on_tcp(traffic) ? predict_tcp(lab, traffic, *loss, baseline_bps, payload)
                               : predict_rc(traffic, *loss, baseline_bps, payload);
}

} // namespace rdmalab::analysis
