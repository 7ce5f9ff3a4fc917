#include "base/json.h"
#include "net/netem_message.h"
#include "net/qdisc.h"

#include <array>
#include <cerrno>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

namespace rdmalab::net {
namespace {

/// Through the bytes of a message, as if the kernel had answered with what it was told.
Netem round_trip(const Netem& netem)
{
  const Message message = netem_message(QdiscVerb::add, 1, netem);
  const auto state = decode_qdisc(message.bytes().subspan(NLMSG_HDRLEN));
  EXPECT_TRUE(state.ok());
  EXPECT_EQ(state->kind, "netem");
  EXPECT_EQ(state->handle, netem_handle);
  EXPECT_EQ(state->parent, TC_H_ROOT);
  return state->netem;
}

Bytes options_of(const Message& message)
{
  return *Attributes(message.bytes().subspan(NLMSG_HDRLEN), sizeof(tcmsg)).find(TCA_OPTIONS);
}

TEST(Share, EveryPpmComesBack)
{
  for (std::uint64_t ppm = 0; ppm <= 1'000'000; ++ppm)
    if (ppm_of_share(share_of_ppm(ppm)) != ppm) FAIL() << ppm;
}

TEST(Share, IsWhatTcSends)
{
  // tc/q_netem.c: rint(probability * UINT32_MAX), in double.
  for (std::uint64_t ppm = 0; ppm <= 1'000'000; ppm += 7) {
    const double exact = static_cast<double>(ppm) / 1e6 * UINT32_MAX;
    EXPECT_NEAR(share_of_ppm(ppm), exact, 0.5001) << ppm;
  }
  EXPECT_EQ(share_of_ppm(0), 0U);
  EXPECT_EQ(share_of_ppm(1'000'000), UINT32_MAX);
  EXPECT_EQ(share_of_ppm(10'000), 42949673U); // `tc … loss 1%` under strace
  EXPECT_EQ(ppm_of_share(UINT32_MAX), 1'000'000U);
  EXPECT_EQ(ppm_of_share(2147), 0U) << "below half a millionth";
  EXPECT_EQ(ppm_of_share(2148), 1U);
}

TEST(Netem, DefaultsComeBack)
{
  EXPECT_EQ(round_trip(Netem{}), effective(Netem{}));
}

TEST(Netem, EachFieldComesBack)
{
  const std::function<void(Netem&)> settings[] = {
      [](Netem& n) { n.limit_packets = UINT32_MAX; },
      [](Netem& n) { n.delay_ns = INT64_MAX; },
      [](Netem& n) { n.jitter_ns = INT32_MAX; },
      [](Netem& n) { n.jitter_ns = 5, n.keep_order = false; },
      [](Netem& n) { n.rate_bps = 8; },
      [](Netem& n) { n.rate_bps = 34'359'738'360; }, // UINT32_MAX bytes a second
      [](Netem& n) { n.rate_bps = 34'359'738'368; }, // one more
      [](Netem& n) { n.rate_bps = 800'000'000'000, n.jitter_ns = 9; },
      [](Netem& n) { n.loss_ppm = 1; },
      [](Netem& n) { n.loss_ppm = 1'000'000, n.loss_correlation_ppm = 3; },
      [](Netem& n) { n.duplicate_ppm = 123'456, n.duplicate_correlation_ppm = 654'321; },
      [](Netem& n) { n.corrupt_ppm = 2, n.corrupt_correlation_ppm = 1; },
      [](Netem& n) { n.delay_ns = 1, n.reorder_ppm = 9, n.reorder_gap = 4; },
      [](Netem& n) {
        n.delay_ns = 1, n.reorder_ppm = 9, n.reorder_gap = 1, n.reorder_correlation_ppm = 77;
      },
      [](Netem& n) { n.seed = UINT64_MAX; },
  };
  for (const auto& set : settings) {
    Netem netem;
    set(netem);
    EXPECT_TRUE(check(netem)) << Json(netem).dump();
    EXPECT_EQ(effective(netem), netem) << Json(netem).dump();
    EXPECT_EQ(round_trip(netem), netem) << Json(netem).dump();
  }
}

TEST(Netem, EveryPpmOfGilbertElliottComesBack)
{
  for (std::uint64_t ppm = 0; ppm <= 1'000'000; ppm += 997) {
    Netem netem;
    netem.gilbert_elliott = true;
    netem.ge_p_ppm = ppm;
    netem.ge_r_ppm = 1'000'000 - ppm;
    netem.ge_bad_loss_ppm = ppm / 2;
    netem.ge_good_loss_ppm = ppm / 3;
    ASSERT_EQ(round_trip(netem), netem) << ppm;
  }
}

TEST(Netem, GilbertElliottGoesAsHAndOneMinusK)
{
  Netem netem;
  netem.gilbert_elliott = true;
  netem.ge_p_ppm = 10'000;
  netem.ge_r_ppm = 250'000;
  netem.ge_bad_loss_ppm = 700'000; // `tc … loss gemodel 1% 25% 70% 0.1%`: 1-h and 1-k
  netem.ge_good_loss_ppm = 1'000;
  const Message message = netem_message(QdiscVerb::add, 1, netem);
  const auto loss = Attributes(options_of(message), sizeof(tc_netem_qopt)).find(TCA_NETEM_LOSS);
  ASSERT_TRUE(loss);
  const auto model = Attributes(*loss).get<tc_netem_gemodel>(NETEM_LOSS_GE);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->p, 42949673U);
  EXPECT_EQ(model->r, 1073741824U);
  EXPECT_NEAR(model->h, 0.3 * UINT32_MAX, 1) << "the chance to survive the bad state";
  EXPECT_NEAR(model->k1, 0.001 * UINT32_MAX, 1) << "the chance to be lost in the good state";
}

TEST(Netem, OrderUnderJitterIsKeptByARate)
{
  Netem netem;
  netem.delay_ns = 1'000'000;
  netem.jitter_ns = 100'000;
  const Message message = netem_message(QdiscVerb::add, 1, netem);
  const Attributes attributes(options_of(message), sizeof(tc_netem_qopt));
  EXPECT_EQ(attributes.get<std::uint64_t>(TCA_NETEM_RATE64), order_rate_bps / 8);
  // packet_time_ns() of sch_netem.c, for the largest skb: the pseudo rate costs no time.
  EXPECT_EQ(std::uint64_t{65'549} * 1'000'000'000 / (order_rate_bps / 8), 0U);
  EXPECT_EQ(round_trip(netem), netem);
  netem.keep_order = false;
  EXPECT_EQ(round_trip(netem), netem);
}

TEST(Netem, EveryAttributeIsAlwaysSent)
{
  const Message message = netem_message(QdiscVerb::change, 1, Netem{});
  const Attributes attributes(options_of(message), sizeof(tc_netem_qopt));
  for (const int type : {TCA_NETEM_LATENCY64, TCA_NETEM_JITTER64, TCA_NETEM_CORR, TCA_NETEM_REORDER,
                         TCA_NETEM_CORRUPT, TCA_NETEM_RATE})
    EXPECT_TRUE(attributes.find(type)) << type << " would keep its old value";
  EXPECT_FALSE(attributes.find(TCA_NETEM_LOSS)) << "its absence ends Gilbert-Elliott";
}

TEST(Netem, WhatHasNoEffectIsNotHeld)
{
  Netem netem;
  netem.keep_order = false;
  netem.loss_correlation_ppm = netem.duplicate_correlation_ppm = 5;
  netem.corrupt_correlation_ppm = netem.reorder_correlation_ppm = 5;
  netem.reorder_gap = 3;
  netem.ge_p_ppm = netem.ge_r_ppm = netem.ge_bad_loss_ppm = netem.ge_good_loss_ppm = 5;
  EXPECT_EQ(effective(netem), Netem{});
  netem = {};
  netem.loss_ppm = netem.loss_correlation_ppm = 5;
  netem.gilbert_elliott = true;
  Netem expected;
  expected.gilbert_elliott = true;
  EXPECT_EQ(effective(netem), expected);
  netem = {};
  netem.delay_ns = 1;
  netem.reorder_ppm = 5;
  EXPECT_EQ(effective(netem).reorder_gap, 1U);
  netem.rate_bps = 1'000'001;
  EXPECT_EQ(effective(netem).rate_bps, 1'000'000U);
}

TEST(Netem, TheImpossibleIsRefused)
{
  const std::function<void(Netem&)> settings[] = {
      [](Netem& n) { n.loss_ppm = 1'000'001; },
      [](Netem& n) { n.ge_bad_loss_ppm = 1'010'000; },
      [](Netem& n) { n.reorder_correlation_ppm = 1'000'001; },
      [](Netem& n) { n.delay_ns = std::uint64_t{INT64_MAX} + 1; },
      [](Netem& n) { n.jitter_ns = std::uint64_t{INT32_MAX} + 1; },
      [](Netem& n) { n.rate_bps = 7; },
      [](Netem& n) { n.rate_bps = order_rate_bps; },
      [](Netem& n) { n.reorder_ppm = 1; },
      [](Netem& n) { n.jitter_ns = 1, n.rate_bps = 8'000, n.keep_order = false; },
  };
  for (const auto& set : settings) {
    Netem netem;
    set(netem);
    const Status status = check(netem);
    ASSERT_FALSE(status) << Json(netem).dump();
    EXPECT_EQ(status.error().number, EINVAL);
  }
  EXPECT_TRUE(check(Netem{}));
}

TEST(Netem, ShortOptionsAreAnError)
{
  const Message message = netem_message(QdiscVerb::add, 1, Netem{});
  const Bytes options = options_of(message);
  for (std::size_t size = 0; size < options.size(); ++size)
    EXPECT_EQ(decode_netem(options.first(size)).ok(), size >= sizeof(tc_netem_qopt)) << size;
}

TEST(Qdisc, CountersAreRead)
{
  Message message(RTM_NEWQDISC);
  tcmsg header{};
  header.tcm_ifindex = 4;
  header.tcm_parent = TC_H_ROOT;
  header.tcm_handle = netem_handle;
  message.header(header).put_string(TCA_KIND, "netem");
  put_netem(message, Netem{});
  message.nest(TCA_STATS2, [&] {
    message.put(TCA_STATS_BASIC, std::array<std::uint64_t, 2>{4'000'000'000'000, 123});
    message.put(TCA_STATS_PKT64, std::uint64_t{5'000'000'123});
    message.put(TCA_STATS_QUEUE, gnet_stats_queue{1, 2, 3, 4, 5});
    message.put(TCA_STATS_APP, std::array<std::uint64_t, 7>{11, 12, 13, 14, 15, 16, 17});
  });
  const auto state = decode_qdisc(message.bytes().subspan(NLMSG_HDRLEN));
  ASSERT_TRUE(state.ok());
  const QdiscCounters& counters = state->counters;
  EXPECT_EQ(counters.bytes, 4'000'000'000'000U);
  EXPECT_EQ(counters.packets, 5'000'000'123U);
  EXPECT_EQ(counters.queued_packets, 1U);
  EXPECT_EQ(counters.queued_bytes, 2U);
  EXPECT_EQ(counters.drops, 3U);
  EXPECT_EQ(counters.requeues, 4U);
  EXPECT_EQ(counters.overlimits, 5U);
  EXPECT_TRUE(counters.exact);
  EXPECT_EQ(counters.delayed, 11U);
  EXPECT_EQ(counters.lost, 12U);
  EXPECT_EQ(counters.corrupted, 13U);
  EXPECT_EQ(counters.duplicated, 14U);
  EXPECT_EQ(counters.reordered, 15U);
  EXPECT_EQ(counters.ecn_marked, 16U);
  EXPECT_EQ(counters.allocation_errors, 17U);
}

} // namespace
} // namespace rdmalab::net
