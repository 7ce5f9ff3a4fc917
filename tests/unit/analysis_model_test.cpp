#include "analysis/limit.h"
#include "analysis/model.h"
#include "analysis/path.h"
#include "analysis/wire_rate.h"
#include "analysis_fixture.h"
#include "base/random.h"

#include <array>
#include <cmath>
#include <utility>

#include <gtest/gtest.h>

namespace rdmalab::analysis {
namespace {

TEST(WireRate, RoceByHand)
{
  // 64 KiB in 1024 B packets: 64 frames of 14+20+8+12+1024+4, and one RETH of 16.
  const WireCost write = verbs_message(lab::VerbsOp::write, 65536, 1024);
  EXPECT_EQ(write.packets, 64U);
  EXPECT_EQ(write.wire_bytes, 64U * 1082 + 16);
  EXPECT_EQ(verbs_message(lab::VerbsOp::send, 65536, 1024).wire_bytes, 64U * 1082);
  // iWARP: what is left of a full TCP segment after MPA, DDP and RDMAP.
  lab::Lab lab;
  lab.topology.mtu = 1500;
  lab::Traffic iwarp;
  iwarp.verbs.transport = lab::Transport::iwarp;
  EXPECT_EQ(packet_payload(lab, iwarp), 1448U - 20);
  EXPECT_EQ(wire_cost(iwarp, 1428).wire_bytes, 1514U);
  EXPECT_EQ(verbs_message(lab::VerbsOp::read, 65536, 1024).wire_bytes, 64U * 1082 + 8);
  EXPECT_EQ(verbs_message(lab::VerbsOp::read, 512, 1024).wire_bytes, 58U + 512 + 4);
  // 1025 B: two packets, three bytes of padding on the second.
  EXPECT_EQ(verbs_message(lab::VerbsOp::send, 1025, 1024).wire_bytes, 2U * 58 + 1025 + 3);
  EXPECT_EQ(verbs_message(lab::VerbsOp::send, 0, 1024).packets, 1U);
  EXPECT_EQ(payload_rate_bps(1'000'000'000, write), 65536ULL * 1'000'000'000 / (64 * 1082 + 16));
}

TEST(WireRate, TcpByHand)
{
  EXPECT_EQ(tcp_segment(1448).wire_bytes, 1514U);
  EXPECT_EQ(payload_rate_bps(1'000'000'000, tcp_segment(1448)), 956'406'869U);
  EXPECT_EQ(payload_rate_bps(0, tcp_segment(1448)), 0U);
}

TEST(WireRate, PayloadOfAPacket)
{
  EXPECT_EQ(ib_mtu_for(1500), 1024U);
  EXPECT_EQ(ib_mtu_for(4175), 2048U);
  EXPECT_EQ(ib_mtu_for(4176), 4096U);
  EXPECT_EQ(ib_mtu_for(100), 256U);
  lab::Lab lab = test::loss_lab();
  EXPECT_EQ(packet_payload(lab, lab.traffic[0]), 1024U);
  EXPECT_EQ(packet_payload(lab, lab.traffic[1]), 1448U);
  EXPECT_EQ(packet_payload(lab, lab.traffic[0], 512), 512U);
  lab.traffic[0].verbs.path_mtu = 4096; // more than the port can do
  EXPECT_EQ(packet_payload(lab, lab.traffic[0]), 1024U);
}

TEST(Path, ReadFlowsBackwards)
{
  lab::Lab lab = test::loss_lab();
  lab.traffic[0].verbs.op = lab::VerbsOp::read;
  EXPECT_EQ(data_source(lab.traffic[0]), "server");
  EXPECT_EQ(data_sink(lab.traffic[0]), "client");
}

TEST(Path, TheNarrowestLinkCountsAndDelaysAdd)
{
  lab::Lab lab = test::loss_lab();
  lab.topology.hosts[0].up = lab::LinkShape{100'000'000, 5'000, 0};
  const Path there = path_between(lab, "client", "server");
  EXPECT_EQ(there.rate_bps, 100'000'000U);
  EXPECT_EQ(there.delay_ns, 25'000U);
  lab.topology.hosts[1].down.rate_bps = 0; // no limit, not a limit of none
  EXPECT_EQ(path_between(lab, "client", "server").rate_bps, 100'000'000U);
  EXPECT_EQ(path_between(lab, "server", "client").delay_ns, 20'000U);
}

/// Packet times that a run of the rule takes that the formula sums up: packet after packet is tried
/// until it gets through; between two acknowledgements the first loss costs the window, each other
/// one the time-out.
double played_retention(const GoBackN& qp, int runs)
{
  std::uint64_t draws = 0;
  double lost = 0;
  for (int run = 0; run < runs; ++run) {
    bool told = false;
    for (int packet = 0; packet < static_cast<int>(qp.ack_packets); ++packet)
      while (static_cast<double>(mix64(7, ++draws) >> 11U) / 9007199254740992.0 < qp.loss)
        lost += std::exchange(told, true) ? qp.timeout_seconds * qp.packets_per_second
                                          : qp.window_packets;
  }
  return qp.ack_packets / (qp.ack_packets + lost / runs);
}

TEST(Model, GoBackNIsWhatItsRuleGives)
{
  for (const double loss : {0.001, 0.01, 0.05})
    for (const double acked : {1.0, 16.0, 64.0}) {
      const GoBackN qp{loss, acked, 64, 0.068, 30'000};
      const double model = go_back_n_retention(qp);
      EXPECT_NEAR(played_retention(qp, 200'000) / model, 1, 0.03) << loss << " " << acked;
    }
}

/// One packet a message: told = p, and the rest p²/(1-p) waits: 1 / (1 + pW + p²/(1-p)·RTO·λ).
TEST(Model, GoBackNOfMessagesOfOnePacket)
{
  EXPECT_NEAR(go_back_n_retention({0.01, 1, 64, 0.068, 30'000}),
              1 / (1 + 0.64 + 0.0001 / 0.99 * 2040), 1e-12);
  EXPECT_NEAR(go_back_n_retention({0, 64, 64, 0.068, 30'000}), 1, 1e-12);
  EXPECT_EQ(go_back_n_retention({1, 64, 64, 0.068, 30'000}), 0);
}

TEST(Model, TimeoutRoundsUpToTicks)
{
  EXPECT_EQ(ack_timeout_ns(14), 68'000'000U); // 67.1 ms
  EXPECT_EQ(ack_timeout_ns(1), 4'000'000U);
  EXPECT_EQ(ack_timeout_ns(0), std::nullopt);
}

TEST(Model, Mathis)
{
  // 1.4 Gb/s at 100 us and 1 % with MSS 1448
  EXPECT_NEAR(mathis_bps(1448, 100e-6, 0.01) / 1e9, 1.413, 0.001);
  EXPECT_TRUE(std::isinf(mathis_bps(1448, 0, 0.01)));
  EXPECT_TRUE(std::isinf(mathis_bps(1448, 1, 0)));
}

TEST(Model, PredictsForPlainLossOnly)
{
  lab::Lab lab = test::loss_lab();
  const auto roce = predict(lab, lab.traffic[0], 930e6, 1024);
  ASSERT_TRUE(roce.retention);
  const double lambda = 930e6 / 8 / 1024;
  EXPECT_NEAR(*roce.retention, go_back_n_retention({0.01, 64, 64, 0.068, lambda}), 1e-9);
  const auto tcp = predict(lab, lab.traffic[1], 938e6, 1448);
  ASSERT_TRUE(tcp.retention);
  EXPECT_NEAR(*tcp.retention, 0.99, 1e-9); // inside the window: only what is lost is lost
  ASSERT_EQ(tcp.notes.size(), 1U);

  lab.faults[0].correlation_ppm = 1;
  EXPECT_FALSE(predict(lab, lab.traffic[0], 930e6, 1024).retention);
  lab.faults[0].correlation_ppm = 0;
  lab.faults[0].kind = lab::FaultKind::delay;
  EXPECT_FALSE(predict(lab, lab.traffic[0], 930e6, 1024).retention);
}

TEST(Model, NoPredictionWhereTheModelDoesNotReach)
{
  const lab::Lab lab = test::loss_lab();
  const auto none = [&](const lab::Lab& l, std::size_t i) {
    return !predict(l, l.traffic[i], 930e6, 1024).retention;
  };
  lab::Lab other = lab;
  other.traffic[0].verbs.qps = 2;
  EXPECT_TRUE(none(other, 0));
  other = lab;
  other.traffic[0].verbs.timeout = 0;
  EXPECT_TRUE(none(other, 0));
  other = lab;
  other.traffic[1].tcp.congestion = "bbr";
  EXPECT_TRUE(none(other, 1));
  other = lab;
  other.faults.push_back(other.faults[0]); // acknowledgements are lost too
  std::swap(other.faults[1].from, other.faults[1].to);
  EXPECT_TRUE(none(other, 0));
  other = lab;
  other.faults.clear();
  EXPECT_TRUE(none(other, 0));
  EXPECT_FALSE(predict(lab, lab.traffic[0], 0, 1024).retention);
}

TEST(Model, LongRoundTripLeavesTcpOutsideTheWindow)
{
  lab::Lab lab = test::loss_lab();
  for (lab::Host& host : lab.topology.hosts) host.down.delay_ns = 5'000'000;
  const auto tcp = predict(lab, lab.traffic[1], 938e6, 1448);
  ASSERT_TRUE(tcp.retention);
  EXPECT_LT(*tcp.retention, 0.02); // 14.1 Mb/s of 938
}

TEST(Limit, LinkCoreWindowUnknown)
{
  record::Record record = test::loss_record();
  const auto by = [&](std::size_t i) { return limit_of(record, record.lab.traffic[i])->by; };
  EXPECT_EQ(by(0), "link"); // 930 of 946 Mb/s
  EXPECT_EQ(by(1), "link");

  for (record::Cell& c : record.cells)
    for (record::Flow& f : c.flows) f.bytes /= 2;
  EXPECT_EQ(by(0), "unknown");
  for (record::Cell& c : record.cells) c.busy_ns = c.window_ns;
  EXPECT_EQ(by(0), "core");
  for (record::Cell& c : record.cells) c.cpus = 2; // busy_ns is of both together
  EXPECT_EQ(by(0), "unknown");
  for (record::Cell& c : record.cells) c.busy_ns = 0;
  for (lab::Host& h : record.lab.topology.hosts)
    h.down.delay_ns = 1'125'000; // 128 KiB in 2.26 ms: 464 Mb/s
  EXPECT_EQ(by(0), "window");
  EXPECT_FALSE(limit_of(record, record.lab.traffic[1])->window_bps);
}

TEST(Limit, TrafficsThatShareALinkFillItTogether)
{
  record::Record record = test::loss_record();
  record.lab.groups = {{"roce", "tcp"}};
  record.cells.resize(3);
  record.cells[0].flows.push_back(record.cells[2].flows[0]);
  record.cells.resize(1);
  for (record::Flow& f : record.cells[0].flows) f.bytes /= 2;
  const auto limit = limit_of(record, record.lab.traffic[0]);
  ASSERT_TRUE(limit);
  EXPECT_NEAR(*limit->link_share, 0.49, 0.01);
  EXPECT_NEAR(*limit->link_used, 0.98, 0.01);
  EXPECT_EQ(limit->by, "link");
}

} // namespace
} // namespace rdmalab::analysis
