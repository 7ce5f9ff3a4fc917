/// What rules do to packets, byte by byte, and what the trace tells of it.
#include "base/clock.h"
#include "fault.h"
#include "fault_fixture.h"

namespace rdmalab::fault::test {
namespace {

using wire::decode_packet;
using wire::FaultAction;

Rule acting(FaultAction action)
{
  Rule rule;
  rule.name = "act";
  rule.action = action;
  return rule;
}

Rule changing(FaultAction action, std::uint32_t offset, std::vector<std::uint8_t> pattern)
{
  Rule rule = acting(action);
  rule.payload_offset = offset;
  rule.pattern = std::move(pattern);
  return rule;
}

/// Whether the IPv4 header's checksum is right.
bool header_sums_up(const Frame& frame)
{
  const auto packet = decode_packet(frame);
  if (packet.network != wire::Network::ipv4) return true;
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < packet.network_header_length; i += 2)
    sum += std::to_integer<std::uint32_t>(frame[packet.network_offset + i]) << 8U |
           std::to_integer<std::uint32_t>(frame[packet.network_offset + i + 1]);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16U);
  return sum == 0xffff;
}

/// Whether the checksum of TCP or UDP is right.
bool transport_sums_up(const Frame& frame)
{
  const auto packet = decode_packet(frame);
  const std::size_t length = packet.network_length - packet.network_header_length;
  const std::size_t octets = packet.source.v6 ? 16 : 4;
  std::uint64_t sum = packet.protocol + length;
  const auto add = [&sum](std::uint32_t byte, std::size_t i) {
    sum += i % 2 == 0 ? byte << 8U : byte;
  };
  for (std::size_t i = 0; i < octets; ++i) add(packet.source.octets[i], i);
  for (std::size_t i = 0; i < octets; ++i) add(packet.destination.octets[i], i);
  for (std::size_t i = 0; i < length; ++i)
    add(std::to_integer<std::uint32_t>(frame[packet.transport_offset + i]), i);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16U);
  return sum == 0xffff;
}

class FaultAct : public FaultPrograms {};

TEST_F(FaultAct, CorruptLeavesTheIcrcStaleAndForgeMakesItRight)
{
  for (const auto& builder : every_builder()) {
    for (const std::size_t length : {1U, 2U, 3U, 64U, 1000U, 1024U, 3001U}) {
      for (const std::size_t at : {std::size_t{0}, length / 2, length - 1}) {
        for (const std::size_t changed : {1U, 3U, 8U}) {
          if (at + changed > length) continue;
          std::vector<std::uint8_t> pattern(changed);
          for (std::size_t i = 0; i < changed; ++i)
            pattern[i] = static_cast<std::uint8_t>(0x81 + 37 * i);
          const Frame before = roce(builder, "RC_RDMA_WRITE_ONLY", 5, length);
          Frame expected = before;
          const auto packet = decode_packet(before);
          const auto payload_offset = wire::decode_roce(before, packet)->payload_offset;
          for (std::size_t i = 0; i < changed; ++i)
            expected[payload_offset + at + i] ^= std::byte{pattern[i]};

          arm({changing(FaultAction::corrupt, static_cast<std::uint32_t>(at), pattern)});
          const auto corrupted = run(Program::port_out, before);
          EXPECT_EQ(corrupted.verdict, pass);
          EXPECT_EQ(corrupted.frame, expected) << length << " " << at << " " << changed;
          EXPECT_EQ(wire::icrc_holds(corrupted.frame, packet), false);

          ASSERT_TRUE(wire::fix_icrc(expected, packet));
          arm({changing(FaultAction::forge, static_cast<std::uint32_t>(at), pattern)});
          const auto forged = run(Program::port_out, before);
          EXPECT_EQ(forged.frame, expected) << length << " " << at << " " << changed;
          EXPECT_EQ(wire::icrc_holds(forged.frame, packet), true);
          EXPECT_EQ(ledger().rules[0].failed, 0U);
        }
      }
    }
  }
}

TEST_F(FaultAct, ForgeMovesUdpsChecksumAlongIfThereIsOne)
{
  for (const std::uint32_t offset : {10U, 11U}) {
    for (const FaultAction action : {FaultAction::corrupt, FaultAction::forge}) {
      for (const auto& builder : {ipv4(), ipv6()}) {
        Frame before = roce(builder, "RC_SEND_ONLY", 0, 100);
        const auto packet = decode_packet(before);
        // A checksum over a field of 0 that is made right: the sum's complement.
        std::uint32_t guess = 0;
        while (!transport_sums_up(before) && guess++ < 0xffff) {
          before[packet.transport_offset + 6] = static_cast<std::byte>(guess >> 8U);
          before[packet.transport_offset + 7] = static_cast<std::byte>(guess & 0xffU);
        }
        ASSERT_TRUE(transport_sums_up(before));
        arm({changing(action, offset, {1, 2, 3})});
        const auto after = run(Program::port_out, before);
        EXPECT_NE(after.frame, before);
        EXPECT_TRUE(transport_sums_up(after.frame)) << offset;
        EXPECT_EQ(wire::icrc_holds(after.frame, packet), action == FaultAction::forge);
      }
    }
  }
}

TEST_F(FaultAct, PayloadsThatAreTooShortAreNotMatched)
{
  arm({changing(FaultAction::corrupt, 60, {1, 1, 1, 1, 1})});
  EXPECT_EQ(run(Program::port_out, send(0, 64)).frame, send(0, 64));
  EXPECT_NE(run(Program::port_out, send(0, 65)).frame, send(0, 65));
  EXPECT_EQ(ledger().rules[0].matched, 1U);
}

TEST_F(FaultAct, TcpsChecksumIsForgedOrStale)
{
  for (const auto& builder : every_builder()) {
    for (const std::uint32_t offset : {0U, 33U}) {
      const Frame before = tcp(builder, wire::tcp_ack, 77, 99);
      ASSERT_TRUE(transport_sums_up(before));
      arm({changing(FaultAction::corrupt, offset, {0xff, 0x01, 0x80})});
      const auto corrupted = run(Program::port_out, before);
      EXPECT_EQ(corrupted.frame.size(), before.size());
      EXPECT_NE(corrupted.frame, before);
      EXPECT_FALSE(transport_sums_up(corrupted.frame));
      arm({changing(FaultAction::forge, offset, {0xff, 0x01, 0x80})});
      const auto forged = run(Program::port_out, before);
      EXPECT_TRUE(transport_sums_up(forged.frame)) << offset;
      const auto at = decode_packet(before).payload_offset + offset;
      EXPECT_EQ(forged.frame[at + 1], before[at + 1] ^ std::byte{0x01});
    }
  }
}

TEST_F(FaultAct, MarksAndRewritesLeaveEverythingElseRight)
{
  Rule rewriting = acting(FaultAction::rewrite);
  for (const auto& builder : every_builder()) {
    auto colored = builder;
    const Frame before = roce(colored.dscp(26).ecn(2).flow_label(0xabcde), "RC_SEND_ONLY", 0, 64);
    arm({acting(FaultAction::mark)});
    auto after = run(Program::port_out, before);
    EXPECT_EQ(after.frame, roce(colored.ecn(3), "RC_SEND_ONLY", 0, 64));
    EXPECT_TRUE(header_sums_up(after.frame));
    EXPECT_EQ(wire::icrc_holds(after.frame, decode_packet(after.frame)), true);
    colored.ecn(2);

    rewriting.dscp = 46;
    rewriting.ttl = {};
    arm({rewriting});
    after = run(Program::port_out, before);
    EXPECT_EQ(after.frame, roce(colored.dscp(46), "RC_SEND_ONLY", 0, 64));
    EXPECT_TRUE(header_sums_up(after.frame));

    rewriting.dscp = 0;
    rewriting.ttl = 1;
    arm({rewriting});
    after = run(Program::port_out, before);
    EXPECT_EQ(after.frame, roce(colored.dscp(0).ttl(1), "RC_SEND_ONLY", 0, 64));
    EXPECT_TRUE(header_sums_up(after.frame));
    EXPECT_EQ(wire::icrc_holds(after.frame, decode_packet(after.frame)), true);
    EXPECT_EQ(ledger().rules[0].failed, 0U);
  }
}

TEST_F(FaultAct, DelayGoesToTheHoldDeviceWithItsDepartureTime)
{
  Rule rule = acting(FaultAction::delay);
  rule.delay_ns = second_ns;
  rule.limit = 1;
  arm({rule});
  EXPECT_EQ(run(Program::port_out, send(0)).verdict, pass) << "there is no hold device";
  EXPECT_EQ(ledger().rules[0].failed, 1U);

  programs().use_hold(1);
  arm({rule});
  const std::uint64_t before = monotonic_ns();
  const auto held = run(Program::port_out, send(0));
  EXPECT_EQ(held.verdict, redirected);
  EXPECT_GE(held.departure, before + second_ns);
  EXPECT_LE(held.departure, monotonic_ns() + second_ns);
  EXPECT_EQ(held.mark, FAULT_MARK_ACTED | FAULT_MARK_HELD);
  auto books = ledger();
  EXPECT_EQ(books.at(0, 1, PacketKind::data).passed, 0U);
  EXPECT_EQ(books.effects.at(0).held_at_end, 1U);
  EXPECT_EQ(books.effects.at(0).dropped, 1U);

  EXPECT_EQ(run(Program::release_held, send(0), held.mark).verdict, redirected);
  EXPECT_EQ(run(Program::release_held, send(0)).verdict, drop) << "nothing else comes out there";
  EXPECT_EQ(run(Program::port_out, send(0), held.mark).verdict, pass);
  books = ledger();
  EXPECT_EQ(books.at(0, 1, PacketKind::data).passed, 1U);
  EXPECT_EQ(books.effects.at(0).dropped, 0U);
}

TEST_F(FaultAct, DuplicateSendsACloneAndPasses)
{
  Rule rule = acting(FaultAction::duplicate);
  rule.limit = 1;
  arm({rule});
  const auto result = run(Program::port_out, send(0));
  EXPECT_EQ(result.verdict, pass);
  EXPECT_EQ(result.frame, send(0));
  EXPECT_EQ(result.mark, FAULT_MARK_ACTED);
  const auto books = ledger();
  EXPECT_EQ(books.rules[0].failed, 0U);
  EXPECT_EQ(books.effects.at(0).duplicated, 1U);
  EXPECT_EQ(books.at(0, 1, PacketKind::data).passed, 1U)
      << "the clone isn't counted: no program at lo";
}

TEST_F(FaultAct, ReorderLetsOthersPassFirst)
{
  Rule rule = acting(FaultAction::reorder);
  rule.passing = 2;
  rule.sequences = {1};
  rule.flow = to_server;
  arm({rule});
  const Frame held = send(1, 3000);
  EXPECT_EQ(out(send(0)), pass);
  EXPECT_EQ(run(Program::port_out, held).verdict, drop);
  EXPECT_EQ(ledger().effects.at(0).held_at_end, 1U);
  EXPECT_EQ(out(acknowledge(ipv4_back(), wire::Syndrome::ack(), 0)), pass) << "of another flow";
  EXPECT_EQ(run(Program::port_out, send(2)).frame, send(2));
  EXPECT_EQ(run(Program::port_out, send(1)).verdict, pass) << "one is held at a time";
  const auto books_between = ledger();
  EXPECT_EQ(books_between.rules[0].busy, 1U);
  EXPECT_EQ(books_between.effects.at(0).held_at_end, 0U) << "that one was the second to pass";
  EXPECT_EQ(books_between.rules[0].failed, 0U);

  arm({rule});
  EXPECT_EQ(run(Program::port_out, held).verdict, drop);
  EXPECT_EQ(run(Program::port_out, send(2)).frame, send(2));
  const auto released = run(Program::port_out, send(3, 10));
  EXPECT_EQ(released.verdict, pass);
  EXPECT_EQ(released.frame, held);
  EXPECT_EQ(released.mark, FAULT_MARK_ACTED);
  const auto books = ledger();
  EXPECT_EQ(books.effects.at(0).dropped, 0U);
  EXPECT_EQ(books.at(0, 1, PacketKind::data).passed, 2U)
      << "the clone of the last isn't counted here";
}

TEST_F(FaultAct, TraceTellsWhatWasSeenAndDone)
{
  Rule rule = dropping();
  rule.sequences = {1};
  arm({rule}, 1, 1000);
  const std::vector<Frame> frames{send(0, 500), send(1, 500),
                                  acknowledge(ipv4_back().vlan(9), wire::Syndrome::ack(), 0)};
  for (const Frame& frame : frames) {
    const auto mark = run(Program::entered, frame).mark;
    EXPECT_NE(mark, 0U);
    if (run(Program::port_out, frame, mark).verdict == pass) run(Program::arrived, frame);
  }
  const auto captured = programs().take_trace();
  ASSERT_TRUE(captured);
  const auto& trace = captured->trace;
  EXPECT_EQ(trace.hosts, (std::vector<std::string>{"client", "server"}));
  EXPECT_EQ(trace.rules, (std::vector<std::string>{"drop"}));
  EXPECT_EQ(trace.lost, 0U);
  ASSERT_EQ(trace.packets.size(), 5U);
  struct Expected {
    std::size_t frame;
    std::uint16_t host;
    wire::TracePoint point;
    FaultAction action;
  };
  using enum wire::TracePoint;
  const std::vector<Expected> all{{0, 0, entered, FaultAction::none},
                                  {0, 1, arrived, FaultAction::none},
                                  {1, 0, entered, FaultAction::drop},
                                  {2, 1, entered, FaultAction::none},
                                  {2, 0, arrived, FaultAction::none}};
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& packet = trace.packets[i];
    const Frame& frame = frames[all[i].frame];
    EXPECT_EQ(packet.host, all[i].host);
    EXPECT_EQ(packet.point, all[i].point);
    EXPECT_EQ(packet.action, all[i].action);
    EXPECT_EQ(packet.rule, all[i].action == FaultAction::drop ? 1 : 0);
    EXPECT_EQ(packet.wire_length, frame.size());
    EXPECT_EQ(Frame(packet.bytes.begin(), packet.bytes.end()),
              Frame(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(
                                                       std::min<std::size_t>(frame.size(), 128))));
    EXPECT_GT(packet.time_ns, last);
    EXPECT_LT(packet.time_ns, monotonic_ns() - 1000);
    last = packet.time_ns;
  }
}

TEST_F(FaultAct, ATraceThatIsFullCountsWhatItLost)
{
  arm({});
  const std::uint32_t room = (1U << 20U) / 160;
  run(Program::entered, send(0), 0, static_cast<int>(room) + 10);
  const auto captured = programs().take_trace();
  ASSERT_TRUE(captured);
  EXPECT_EQ(captured->trace.packets.size(), room);
  EXPECT_EQ(captured->trace.lost, 10U);
  arm({}, 1, 0, false);
  run(Program::entered, send(0));
  EXPECT_EQ(programs().take_trace()->trace.packets.size(), 0U);
}

TEST_F(FaultAct, FiringsThatFindNoRoomAreCounted)
{
  Options options;
  options.firings = 3;
  options.trace_bytes = 0;
  auto small = Programs::load(options);
  ASSERT_TRUE(small);
  programs() = std::move(*small);
  ASSERT_TRUE(programs().set_hosts({{"a", 1, "", 1, {*wire::parse_ip("10.0.0.1")}},
                                    {"b", 1, "", 1, {*wire::parse_ip("10.0.0.2")}}}));
  arm({dropping()});
  for (std::uint32_t i = 0; i < 5; ++i) EXPECT_EQ(out(send(i)), drop);
  EXPECT_EQ(run(Program::entered, send(0)).mark, 0U) << "no trace was asked for";
  const auto books = ledger();
  EXPECT_EQ(books.firings.size(), 3U);
  EXPECT_EQ(books.lost_firings, 2U);
  EXPECT_EQ(books.rules[0].fired, 5U);
  EXPECT_EQ(books.effects.at(0).dropped, 5U);
}

TEST_F(FaultAct, AFiringTellsThePacket)
{
  Rule rule = dropping();
  rule.classes = {wire::PacketClass::nak};
  arm({rule}, 1, monotonic_ns());
  EXPECT_EQ(
      out(acknowledge(ipv4_back(), wire::Syndrome::nak(wire::NakCode::psn_sequence_error), 9)),
      drop);
  const auto books = ledger();
  ASSERT_EQ(books.firings.size(), 1U);
  const Firing& firing = books.firings[0];
  EXPECT_EQ(firing.rule, 0U);
  EXPECT_EQ(firing.flow, to_client);
  EXPECT_EQ(firing.kind, PacketKind::nak);
  EXPECT_EQ(firing.opcode, 0x11);
  EXPECT_EQ(firing.relative, 9U);
  EXPECT_EQ(firing.sequence, wire::psn_add(first_psn, 9));
  EXPECT_EQ(firing.from, 1);
  EXPECT_EQ(firing.to, 0);
  EXPECT_EQ(firing.wire_length, 62U);
  EXPECT_LT(firing.time_ns, 10 * second_ns);
}

} // namespace
} // namespace rdmalab::fault::test
