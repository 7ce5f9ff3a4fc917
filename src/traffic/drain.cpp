#include "traffic/drain.h"

#include <algorithm>

namespace rdmalab::traffic {

namespace {

constexpr std::uint64_t words_ns = 5'000'000'000;  ///< a few TCP retransmissions at a lossy fabric
constexpr std::uint64_t order_lead_ns = 5'000'000; ///< for both ends, and a reading of all counters
constexpr std::uint64_t server_lead_ns = 300'000'000; ///< for a program to begin listening
constexpr std::uint64_t least_ns = 1'000'000'000;
constexpr std::uint64_t most_ns = 30'000'000'000;
/// What is in flight may have to crawl home over a slow and lossy link: 1 Mb/s.
constexpr std::uint64_t slowest_ns_per_byte = 8'000;
/// A sender that has lost its last flight again and again waits 0.2 s, 0.4 s, 0.8 s …: eight times.
constexpr std::uint64_t tcp_ns = 60'000'000'000;

/// IB specification, table "Encoding for RNR NAK Timer Field": 655.36 ms for 0, then 10, 20, 30,
/// 40, 60, 80, 120 us ...
std::uint64_t rnr_timer_ns(std::uint32_t code)
{
  if (code == 0) return 655'360'000;
  if (code == 1) return 10'000;
  return (code % 2 == 0 ? std::uint64_t{20'000} : std::uint64_t{30'000}) << (code / 2 - 1);
}

/// How long a receiver that runs out of receives may keep the last messages waiting.
std::uint64_t receiver_ns(const lab::Verbs& verbs)
{
  if (verbs.replenish == lab::Replenish::at_once && verbs.receives != 0U) return 0;
  return rnr_timer_ns(verbs.min_rnr_timer) * (verbs.rnr_retry + std::uint64_t{1}) +
         2 * verbs.replenish_ns;
}

} // namespace

std::uint64_t transport_drain_ns(const lab::Traffic& traffic)
{
  if (rides_on_tcp(traffic)) return tcp_ns;
  // IB specification 9.7.6.1.3: the local ACK timeout is 4.096 us * 2^code, once for every try;
  // twice that covers rxe's rounding up to its timer's tick and one more round of losses.
  const std::uint64_t in_flight =
      std::uint64_t{traffic.message_bytes} * traffic.verbs.depth * traffic.verbs.qps;
  const std::uint64_t timeout = std::uint64_t{4096} << std::min(traffic.verbs.timeout, 31U);
  return std::clamp(receiver_ns(traffic.verbs) +
                        2 * timeout * (traffic.verbs.retry_count + std::uint64_t{1}) +
                        in_flight * slowest_ns_per_byte,
                    least_ns, most_ns);
}

std::uint64_t lead_ns(const lab::Traffic& traffic)
{
  const bool server = traffic.kind == lab::TrafficKind::command && !traffic.command.server.empty();
  return server ? server_lead_ns : order_lead_ns;
}

std::uint64_t drain_budget_ns(const lab::Traffic& traffic)
{
  return transport_drain_ns(traffic) + words_ns;
}

} // namespace rdmalab::traffic
