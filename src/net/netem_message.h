#pragma once

#include "base/netem.h"
#include "base/result.h"
#include "net/message.h"

#include <cstdint>

/// netem's TCA_OPTIONS by hand: libnl's rtnl_netem knows no rate, loss models, seed or 64-bit
/// delay. Layout and meaning: linux/pkt_sched.h and net/sched/sch_netem.c of Linux 7.3;
/// tc/q_netem.c of iproute2.
namespace rdmalab::net {

/// A probability of `ppm` millionths as the kernel's share of 2^32-1, to the nearest, like tc.
/// netem drops when share >= a random word, so the true probability is (share + 1) / 2^32.
constexpr std::uint32_t share_of_ppm(std::uint64_t ppm)
{
  return static_cast<std::uint32_t>((ppm * UINT32_MAX + 500'000) / 1'000'000);
}
/// Back, to the nearest; exact for every share that share_of_ppm() gives.
constexpr std::uint64_t ppm_of_share(std::uint32_t share)
{
  return (std::uint64_t{share} * 1'000'000 + UINT32_MAX / 2) / UINT32_MAX;
}

/// The rate that stands for "no rate, but keep the order" (10^15 bit/s; `rate 1000000gbit` for tc).
/// netem's own queue sorts by departure time, also when it has a child qdisc, so jitter reorders;
/// with a rate, though, each packet's time starts from its predecessor's, and at this one a packet
/// of 64 KiB takes 0 ns to send.
constexpr std::uint64_t order_rate_bps = 1'000'000'000'000'000;

/// What the kernel will hold when asked for `wanted`: without parameters that have no effect (a
/// correlation of nothing, loss_ppm beside Gilbert-Elliott), with the rate in whole bytes a second
/// and a gap for reordering.
Netem effective(const Netem& wanted);

/// EINVAL, in words, if netem can't do it: a probability above 100 %, a jitter above 2^31-1 ns,
/// reordering without delay, or jitter that may reorder under a rate (netem keeps the order when it
/// has a rate).
Status check(const Netem& wanted);

/// Appends TCA_OPTIONS to an RTM_NEWQDISC message. Every attribute is sent, also when it is 0:
/// change() keeps what it isn't told. The seed is sent if it is not 0.
void put_netem(Message& message, const Netem& wanted);

/// Reads the payload of a netem's TCA_OPTIONS; EBADMSG if it is too short. On a kernel without
/// TCA_NETEM_PRNG_SEED (before 6.6) the seed is 0.
Result<Netem> decode_netem(Bytes bytes);

} // namespace rdmalab::net
