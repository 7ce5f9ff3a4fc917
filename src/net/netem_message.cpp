#include "net/netem_message.h"

#include <array>
#include <cerrno>
#include <climits>
#include <string>

#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <spdlog/fmt/fmt.h>

namespace rdmalab::net {

namespace {

// Debian 12's pkt_sched.h ends before it.
constexpr int attribute_prng_seed = 14;
static_assert(attribute_prng_seed == TCA_NETEM_SLOT_DIST + 1);

constexpr std::uint64_t whole = 1'000'000; // ppm

std::uint64_t bytes_per_second(const Netem& netem)
{
  if (netem.rate_bps != 0) return netem.rate_bps / 8;
  return netem.jitter_ns != 0 && netem.keep_order ? order_rate_bps / 8 : 0;
}

} // namespace

Netem effective(const Netem& wanted)
{
  Netem netem = wanted;
  netem.rate_bps = wanted.rate_bps / 8 * 8;
  if (netem.jitter_ns == 0) netem.keep_order = true;
  if (netem.gilbert_elliott)
    netem.loss_ppm = netem.loss_correlation_ppm = 0;
  else
    netem.ge_p_ppm = netem.ge_r_ppm = netem.ge_bad_loss_ppm = netem.ge_good_loss_ppm = 0;
  if (netem.loss_ppm == 0) netem.loss_correlation_ppm = 0;
  if (netem.duplicate_ppm == 0) netem.duplicate_correlation_ppm = 0;
  if (netem.corrupt_ppm == 0) netem.corrupt_correlation_ppm = 0;
  if (netem.reorder_ppm == 0)
    netem.reorder_gap = 0, netem.reorder_correlation_ppm = 0;
  else if (netem.reorder_gap == 0)
    netem.reorder_gap = 1; // tc's default; without a gap the kernel never reorders
  return netem;
}

Status check(const Netem& wanted)
{
  const auto refuse = [](const std::string& why) {
    return Error{Exit::setup, "set up netem: " + why, EINVAL, {}, {}};
  };
  const std::array probabilities = {wanted.loss_ppm,        wanted.loss_correlation_ppm,
                                    wanted.ge_p_ppm,        wanted.ge_r_ppm,
                                    wanted.ge_bad_loss_ppm, wanted.ge_good_loss_ppm,
                                    wanted.duplicate_ppm,   wanted.duplicate_correlation_ppm,
                                    wanted.corrupt_ppm,     wanted.corrupt_correlation_ppm,
                                    wanted.reorder_ppm,     wanted.reorder_correlation_ppm};
  for (const std::uint64_t ppm : probabilities)
    if (ppm > whole) return refuse(fmt::format("a probability of {} ppm", ppm));
  if (wanted.delay_ns > INT64_MAX) return refuse(fmt::format("a delay of {} ns", wanted.delay_ns));
  if (wanted.jitter_ns > INT_MAX)
    return refuse(fmt::format("a jitter of {} ns, above {}", wanted.jitter_ns, INT_MAX));
  if (wanted.rate_bps != 0 && (wanted.rate_bps < 8 || wanted.rate_bps >= order_rate_bps))
    return refuse(fmt::format("a rate of {} bit/s", wanted.rate_bps));
  if (wanted.reorder_ppm != 0 && wanted.delay_ns == 0)
    return refuse("reordering needs a delay that a packet can jump over");
  if (wanted.jitter_ns != 0 && wanted.rate_bps != 0 && !wanted.keep_order)
    return refuse("with a rate netem keeps the order, whatever the jitter");
  return {};
}

void put_netem(Message& message, const Netem& wanted)
{
  const Netem netem = effective(wanted);
  message.nest(TCA_OPTIONS, [&] {
    tc_netem_qopt options{};
    options.limit = netem.limit_packets;
    options.loss = share_of_ppm(netem.loss_ppm);
    options.gap = netem.reorder_gap;
    options.duplicate = share_of_ppm(netem.duplicate_ppm);
    message.header(options);

    message.put(TCA_NETEM_LATENCY64, static_cast<std::int64_t>(netem.delay_ns));
    message.put(TCA_NETEM_JITTER64, static_cast<std::int64_t>(netem.jitter_ns));
    message.put(TCA_NETEM_CORR, tc_netem_corr{0, share_of_ppm(netem.loss_correlation_ppm),
                                              share_of_ppm(netem.duplicate_correlation_ppm)});
    message.put(TCA_NETEM_REORDER, tc_netem_reorder{share_of_ppm(netem.reorder_ppm),
                                                    share_of_ppm(netem.reorder_correlation_ppm)});
    message.put(TCA_NETEM_CORRUPT, tc_netem_corrupt{share_of_ppm(netem.corrupt_ppm),
                                                    share_of_ppm(netem.corrupt_correlation_ppm)});

    const std::uint64_t rate = bytes_per_second(netem);
    tc_netem_rate narrow{};
    narrow.rate = rate > UINT32_MAX ? UINT32_MAX : static_cast<std::uint32_t>(rate);
    if (rate > UINT32_MAX) message.put(TCA_NETEM_RATE64, rate);
    message.put(TCA_NETEM_RATE, narrow);

    if (netem.gilbert_elliott)
      message.nest(TCA_NETEM_LOSS, [&] {
        // The kernel's h is the chance to survive the bad state, its k1 the chance to be lost in
        // the good one.
        message.put(NETEM_LOSS_GE,
                    tc_netem_gemodel{share_of_ppm(netem.ge_p_ppm), share_of_ppm(netem.ge_r_ppm),
                                     UINT32_MAX - share_of_ppm(netem.ge_bad_loss_ppm),
                                     share_of_ppm(netem.ge_good_loss_ppm)});
      });
    if (netem.seed != 0) message.put(attribute_prng_seed, netem.seed);
  });
}

Result<Netem> decode_netem(Bytes bytes)
{
  const auto options = value_of<tc_netem_qopt>(bytes);
  if (!options) return system_error(EBADMSG, "read netem's options");
  const Attributes attributes(bytes, sizeof(tc_netem_qopt));
  Netem netem;
  netem.limit_packets = options->limit;
  netem.loss_ppm = ppm_of_share(options->loss);
  netem.duplicate_ppm = ppm_of_share(options->duplicate);
  netem.reorder_gap = options->gap;
  const auto time = [&](int type) {
    return static_cast<std::uint64_t>(attributes.get<std::int64_t>(type).value_or(0));
  };
  netem.delay_ns = time(TCA_NETEM_LATENCY64);
  netem.jitter_ns = time(TCA_NETEM_JITTER64);
  if (const auto correlation = attributes.get<tc_netem_corr>(TCA_NETEM_CORR)) {
    netem.loss_correlation_ppm = ppm_of_share(correlation->loss_corr);
    netem.duplicate_correlation_ppm = ppm_of_share(correlation->dup_corr);
  }
  if (const auto reorder = attributes.get<tc_netem_reorder>(TCA_NETEM_REORDER)) {
    netem.reorder_ppm = ppm_of_share(reorder->probability);
    netem.reorder_correlation_ppm = ppm_of_share(reorder->correlation);
  }
  if (const auto corrupt = attributes.get<tc_netem_corrupt>(TCA_NETEM_CORRUPT)) {
    netem.corrupt_ppm = ppm_of_share(corrupt->probability);
    netem.corrupt_correlation_ppm = ppm_of_share(corrupt->correlation);
  }
  std::uint64_t rate = 0;
  if (const auto narrow = attributes.get<tc_netem_rate>(TCA_NETEM_RATE)) rate = narrow->rate;
  if (const auto wide = attributes.get<std::uint64_t>(TCA_NETEM_RATE64)) rate = *wide;
  netem.keep_order = netem.jitter_ns == 0 || rate != 0;
  netem.rate_bps = rate == order_rate_bps / 8 ? 0 : rate * 8;
  if (const auto loss = attributes.find(TCA_NETEM_LOSS))
    if (const auto model = Attributes(*loss).get<tc_netem_gemodel>(NETEM_LOSS_GE)) {
      netem.gilbert_elliott = true;
      netem.ge_p_ppm = ppm_of_share(model->p);
      netem.ge_r_ppm = ppm_of_share(model->r);
      netem.ge_bad_loss_ppm = ppm_of_share(UINT32_MAX - model->h);
      netem.ge_good_loss_ppm = ppm_of_share(model->k1);
    }
  netem.seed = attributes.get<std::uint64_t>(attribute_prng_seed).value_or(0);
  return netem;
}

} // namespace rdmalab::net
