/// Real packets through a real fabric of this kernel.
#include "fault_fabric_fixture.h"

namespace rdmalab::fault::test {
namespace {

INSTANTIATE_TEST_SUITE_P(ByWay, FaultFabric, testing::Values(true, false),
                         [](const auto& each) { return each.param ? "best" : "clsact"; });

TEST_P(FaultFabric, AttachesTheWayThatWasAsked)
{
  if (!GetParam()) {
    EXPECT_FALSE(programs().by_tcx());
  }
  programs().detach();
  transmit(send(0));
  EXPECT_EQ(received().size(), 1U);
  EXPECT_EQ(closed_books().at(0, 1, PacketKind::data), PacketCounts{});
}

TEST_P(FaultFabric, DropsExactlyWhatWasAsked)
{
  Rule rule = acting(FaultAction::drop);
  rule.sequences = {3, 7};
  rule.transmission = Range{1, 1};
  arm({rule});
  for (std::uint32_t psn = 0; psn < 10; ++psn) transmit(send(psn));
  transmit(send(7));
  const auto frames = received();
  ASSERT_EQ(frames.size(), 9U);
  EXPECT_EQ(frames[3], send(4));
  EXPECT_EQ(frames.back(), send(7));
  const auto books = closed_books();
  EXPECT_EQ(books.at(0, 1, PacketKind::data), (PacketCounts{11, 9, 9}));
  EXPECT_EQ(books.firings.size(), 2U);
}

TEST_P(FaultFabric, DuplicatesAndTheBooksClose)
{
  Rule rule = acting(FaultAction::duplicate);
  rule.every = 4;
  arm({rule});
  for (std::uint32_t psn = 0; psn < 8; ++psn) transmit(send(psn, 4096));
  const auto frames = received();
  ASSERT_EQ(frames.size(), 10U);
  EXPECT_EQ(frames[3], frames[4]);
  EXPECT_EQ(closed_books().at(0, 1, PacketKind::data), (PacketCounts{8, 10, 10}));
}

TEST_P(FaultFabric, ReordersByThree)
{
  Rule rule = acting(FaultAction::reorder);
  rule.passing = 3;
  rule.sequences = {2};
  arm({rule});
  // Longer and shorter than those that it is let go with.
  const std::vector<std::size_t> lengths{1024, 1024, 4096, 64, 1024, 16, 1024, 1024};
  for (std::uint32_t psn = 0; psn < 8; ++psn) transmit(send(psn, lengths[psn]));
  const auto frames = received();
  ASSERT_EQ(frames.size(), 8U);
  const std::vector<std::uint32_t> order{0, 1, 3, 4, 5, 2, 6, 7};
  for (std::size_t i = 0; i < order.size(); ++i)
    EXPECT_EQ(frames[i], send(order[i], lengths[order[i]])) << i;
  EXPECT_EQ(closed_books().at(0, 1, PacketKind::data), (PacketCounts{8, 8, 8}));
}

TEST_P(FaultFabric, WhatIsHeldToTheEndCountsAsDropped)
{
  Rule rule = acting(FaultAction::reorder);
  rule.passing = 3;
  rule.sequences = {6};
  arm({rule});
  for (std::uint32_t psn = 0; psn < 8; ++psn) transmit(send(psn));
  EXPECT_EQ(received().size(), 7U);
  const auto books = closed_books();
  ASSERT_EQ(books.effects.size(), 1U);
  EXPECT_EQ(books.effects[0].dropped, 1U);
  EXPECT_EQ(books.effects[0].held_at_end, 1U);
}

TEST_P(FaultFabric, ForgesWhatArrives)
{
  Rule rule = acting(FaultAction::forge);
  rule.pattern = {0x55, 0xaa};
  rule.payload_offset = 4000;
  arm({rule});
  transmit(send(0, 4096));
  const auto frames = received();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_NE(frames[0], send(0, 4096));
  EXPECT_EQ(wire::icrc_holds(frames[0], wire::decode_packet(frames[0])), true);
  closed_books();
}

TEST_P(FaultFabric, TaggedPacketsAreKnownAndTracedWithTheirTag)
{
  Rule rule = acting(FaultAction::drop);
  rule.sequences = {1};
  arm({rule});
  wire::RoceHeaders headers = wire::headers_of(*wire::find_opcode("RC_SEND_ONLY"));
  headers.bth.destination_qp = 17;
  std::vector<Frame> frames;
  for (headers.bth.psn = 0; headers.bth.psn < 3; ++headers.bth.psn)
    frames.push_back(builder().vlan(5, 3).roce(headers, payload(256)));
  for (const Frame& frame : frames) transmit(frame);
  EXPECT_EQ(received().size(), 2U);
  EXPECT_EQ(closed_books().at(0, 1, PacketKind::data), (PacketCounts{3, 2, 2}));
  const auto captured = programs().take_trace();
  ASSERT_TRUE(captured);
  const auto& packets = captured->trace.packets;
  ASSERT_EQ(packets.size(), 5U);
  for (const auto& packet : packets) {
    EXPECT_EQ(packet.wire_length, frames[0].size());
    EXPECT_EQ(wire::decode_packet(packet.bytes, packet.wire_length).vlan_tci, 3U << 13U | 5U);
  }
  EXPECT_EQ(std::ranges::count(packets, FaultAction::drop, &wire::TracedPacket::action), 1);
}

TEST_P(FaultFabric, DelayedPacketsTakeTheDetour)
{
  programs().hold_queue(Hold::Queue::none); // this kernel need not have fq
  Rule rule = acting(FaultAction::delay);
  rule.delay_ns = 1000;
  rule.every = 2;
  arm({rule});
  for (std::uint32_t psn = 0; psn < 10; ++psn) transmit(send(psn));
  EXPECT_EQ(received().size(), 10U);
  const auto books = closed_books();
  EXPECT_EQ(books.at(0, 1, PacketKind::data), (PacketCounts{10, 10, 10}));
  EXPECT_EQ(books.rules[0].fired, 5U);
  EXPECT_EQ(books.rules[0].failed, 0U);
  ASSERT_EQ(books.effects.size(), 1U);
  EXPECT_EQ(books.effects[0].held_at_end, 0U);
}

TEST_P(FaultFabric, DelayedPacketsWaitAsLongAsAsked)
{
  Rule rule = acting(FaultAction::delay);
  rule.delay_ns = 50'000'000;
  rule.sequences = {1};
  const auto set = programs().set_rules({rule}, 1);
  if (!set && set.error().number == ENOENT)
    GTEST_SKIP() << set.error().message() << ": " << set.error().hint;
  arm({rule});
  for (std::uint32_t psn = 0; psn < 4; ++psn) transmit(send(psn));
  const auto frames = received(200);
  ASSERT_EQ(frames.size(), 4U);
  EXPECT_EQ(frames[3], send(1));
  closed_books();
  const auto captured = programs().take_trace();
  ASSERT_TRUE(captured);
  std::uint64_t entered = 0;
  std::uint64_t arrived = 0;
  for (const auto& packet : captured->trace.packets) {
    if (packet.action == FaultAction::delay) entered = packet.time_ns;
    if (packet.point == wire::TracePoint::arrived) arrived = packet.time_ns;
  }
  EXPECT_GE(arrived - entered, 50'000'000U);
  EXPECT_LT(arrived - entered, 80'000'000U);
}

TEST_P(FaultFabric, TcpRecoversFromAnAddressedLoss)
{
  Rule rule;
  rule.name = "one segment, twice";
  rule.action = FaultAction::drop;
  rule.flow = 0;
  rule.tcp_kinds = tcp_kind_data;
  rule.sequence = Range{100'000, 100'000};
  rule.limit = 2;
  EXPECT_EQ(stream(1'000'000, rule), 1'000'000U);
  const auto books = closed_books();
  ASSERT_EQ(books.firings.size(), 2U);
  for (const Firing& firing : books.firings) {
    EXPECT_LE(firing.relative, 100'000U);
    EXPECT_GT(firing.relative + firing.wire_length, 100'000U);
  }
  EXPECT_EQ(books.rules[0].fired, 2U);
  EXPECT_EQ(books.rules[0].unknown_flow, 0U);
  EXPECT_GT(books.at(1, 0, PacketKind::tcp_ack).arrived, 10U);
}

TEST_P(FaultFabric, TcpIsReordered)
{
  Rule rule;
  rule.name = "reorder";
  rule.action = FaultAction::reorder;
  rule.passing = 2;
  rule.flow = 0;
  rule.tcp_kinds = tcp_kind_data;
  rule.every = 50;
  EXPECT_EQ(stream(1'000'000, rule), 1'000'000U);
  const auto books = closed_books();
  EXPECT_GT(books.rules[0].fired, 3U);
  EXPECT_EQ(books.rules[0].failed, 0U);
}

TEST_P(FaultFabric, SumsCloseAroundNetemOnBothSides)
{
  programs().detach();
  Netem lossy;
  lossy.loss_ppm = 100'000;
  lossy.limit_packets = 10'000;
  Netem doubling;
  doubling.duplicate_ppm = 100'000;
  doubling.loss_ppm = 50'000;
  doubling.limit_packets = 10'000;
  Netem plain;
  plain.limit_packets = 10'000;
  filters_follow_ = true;
  build({{"client", true, "ifb0", plain, lossy}, {"server", false, "p1", plain, doubling}});
  if (IsSkipped() || HasFatalFailure()) return;
  attach();
  if (HasFatalFailure()) return;
  ASSERT_TRUE(fabric().apply(true, 7));
  Rule rule = acting(FaultAction::drop);
  rule.every = 10;
  arm({rule});
  for (std::uint32_t psn = 0; psn < 1000; ++psn) {
    transmit(send(psn, 64));
    if (psn % 100 == 99) received(50);
  }
  received(50);
  const auto netem = fabric().impairment_stats();
  ASSERT_TRUE(netem);
  ASSERT_EQ(netem->size(), 2U);
  const std::vector<NetemCounts> counts{
      {0, true, netem->at(0).dropped + netem->at(0).overflowed, netem->at(0).duplicated, 0},
      {1, false, netem->at(1).dropped + netem->at(1).overflowed, netem->at(1).duplicated, 0}};
  const auto books = programs().ledger();
  ASSERT_TRUE(books);
  EXPECT_THAT(check_sums(*books, counts), testing::IsEmpty());
  const PacketCounts& data = books->at(0, 1, PacketKind::data);
  EXPECT_EQ(data.sent, 1000U) << "once each, though the ifb lets them in again";
  EXPECT_LT(data.passed, 900U);
  EXPECT_EQ(books->rules[0].fired, (1000 - counts[0].lost) / 10);
}

/// A measurement rather than a test: on the virtual clock a nanosecond is an instruction.
TEST_P(FaultFabric, PrintsWhatAPacketCosts)
{
  const Fd sink = socket_in("server", AF_INET, SOCK_DGRAM, 0); // or the host would answer by ICMP
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(wire::roce_port);
  ASSERT_EQ(::bind(sink.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  const auto cost = [this, &sink] {
    constexpr int rounds = 100;
    constexpr int batch = 50;
    const Frame frame = send(1, 1024);
    std::array<std::byte, 2048> buffer{};
    std::uint64_t best = UINT64_MAX;
    for (int attempt = 0; attempt < 5; ++attempt) {
      std::uint64_t total = 0;
      for (int round = 0; round < rounds; ++round) {
        const std::uint64_t begin = monotonic_ns();
        for (int i = 0; i < batch; ++i) transmit(frame);
        total += monotonic_ns() - begin;
        received(0);
        while (::recv(sink.get(), buffer.data(), buffer.size(), MSG_DONTWAIT) > 0) {
        }
      }
      best = std::min<std::uint64_t>(best, total / (rounds * batch));
    }
    return best;
  };
  ASSERT_TRUE(programs().set_rules({}, 1));
  ASSERT_TRUE(programs().arm(monotonic_ns(), false));
  const std::uint64_t attached = cost();
  ASSERT_TRUE(programs().arm(monotonic_ns(), true));
  const std::uint64_t traced = cost();
  EXPECT_EQ(programs().take_trace()->trace.lost, 0U);
  Rule rule = acting(FaultAction::drop);
  rule.flow = 0;
  rule.sequences = {1'000'000};
  rule.transmission = Range{1, 1};
  arm({rule});
  programs().disarm();
  ASSERT_TRUE(programs().arm(monotonic_ns(), false));
  const std::uint64_t looked_up = cost();
  programs().detach();
  const std::uint64_t bare = cost();
  const std::uint64_t hooks = [this, &cost] {
    const auto empty = attach_empty();
    return cost();
  }();
  const auto more = [bare](std::uint64_t than) { return static_cast<long long>(than - bare); };
  std::printf(
      "a packet: %llu ns without programs; with empty ones %+lld; with ours %+lld, with trace "
      "%+lld; with a rule that never fires %+lld\n",
      static_cast<unsigned long long>(bare), more(hooks), more(attached), more(traced),
      more(looked_up));
}

} // namespace
} // namespace rdmalab::fault::test
