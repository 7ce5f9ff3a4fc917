/// Which packets a rule hits: every matcher, on every shape of packet.
#include "base/clock.h"
#include "fault.h"
#include "fault_fixture.h"

#include <sys/wait.h>

namespace rdmalab::fault::test {
namespace {

using wire::PacketClass;
using wire::Position;
using wire::Syndrome;

constexpr std::uint32_t isn = 0xfffffff0; // wraps soon

std::string text_of_failures(const std::vector<std::string>& lines)
{
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

/// Which of the packets a rule drops, as their places.
class FaultMatch : public FaultPrograms {
protected:
  std::vector<std::size_t> dropped(const Rule& rule, const std::vector<Frame>& frames)
  {
    arm({rule});
    std::vector<std::size_t> hit;
    for (std::size_t i = 0; i < frames.size(); ++i)
      if (out(frames[i]) == drop) hit.push_back(i);
    return hit;
  }
};

using Places = std::vector<std::size_t>;

TEST_F(FaultMatch, WithoutRulesAllPass)
{
  arm({});
  for (const auto& builder : every_builder()) {
    EXPECT_EQ(out(roce(builder, "RC_SEND_ONLY", 0, 64)), pass);
    EXPECT_EQ(out(tcp(builder, wire::tcp_ack, 1, 64)), pass);
  }
  EXPECT_EQ(ledger().at(0, 1, PacketKind::data).passed, 4U);
  EXPECT_EQ(ledger().at(0, 1, PacketKind::tcp_data).passed, 4U);
}

TEST_F(FaultMatch, PacketsOfOthersAreLeftAlone)
{
  arm({dropping()});
  const auto strange =
      local(PacketBuilder().addresses(*wire::parse_ip("10.0.0.9"), *wire::parse_ip("10.0.0.2")));
  EXPECT_EQ(out(roce(strange, "RC_SEND_ONLY", 0, 64)), next);
  Frame arp(60);
  arp[12] = std::byte{8};
  arp[13] = std::byte{6};
  EXPECT_EQ(out(arp), next);
  EXPECT_EQ(out(Frame(14)), next);
  for (const auto& counts : ledger().counts) EXPECT_EQ(counts, PacketCounts{});
}

TEST_F(FaultMatch, ClassesOfEveryShape)
{
  struct Case {
    PacketClass wanted;
    std::string_view opcode;
    std::optional<Syndrome> syndrome;
  };
  const std::vector<Case> cases{
      {PacketClass::data, "RC_SEND_FIRST", {}},
      {PacketClass::data, "RC_RDMA_WRITE_ONLY", {}},
      {PacketClass::ack, "RC_ACKNOWLEDGE", Syndrome::ack()},
      {PacketClass::nak, "RC_ACKNOWLEDGE", Syndrome::nak(wire::NakCode::psn_sequence_error)},
      {PacketClass::rnr, "RC_ACKNOWLEDGE", Syndrome::rnr(12)},
      {PacketClass::read_request, "RC_RDMA_READ_REQUEST", {}},
      {PacketClass::read_response, "RC_RDMA_READ_RESPONSE_MIDDLE", {}},
      {PacketClass::atomic, "RC_FETCH_ADD", {}},
      {PacketClass::atomic_ack, "RC_ATOMIC_ACKNOWLEDGE", {}},
      {PacketClass::cnp, "CNP", {}},
  };
  for (const auto& builder : every_builder()) {
    std::vector<Frame> frames;
    for (const Case& each : cases)
      frames.push_back(each.syndrome ? acknowledge(builder, *each.syndrome, 3)
                                     : roce(builder, each.opcode, 3, 64));
    for (const Case& wanted : cases) {
      Rule rule = dropping();
      rule.classes = {wanted.wanted};
      Places expected;
      for (std::size_t i = 0; i < cases.size(); ++i)
        if (cases[i].wanted == wanted.wanted) expected.push_back(i);
      EXPECT_EQ(dropped(rule, frames), expected) << wire::to_string(wanted.wanted);
    }
  }
}

TEST_F(FaultMatch, PositionsAndOpcodes)
{
  const std::vector<Frame> frames{
      roce(ipv4(), "RC_SEND_FIRST", 0, 64), roce(ipv4(), "RC_SEND_MIDDLE", 1, 64),
      roce(ipv4(), "RC_SEND_LAST", 2, 64), roce(ipv4(), "RC_SEND_ONLY", 3, 64),
      roce(ipv4(), "RC_RDMA_WRITE_LAST", 4, 64)};
  Rule rule = dropping();
  rule.positions = {Position::first};
  EXPECT_EQ(dropped(rule, frames), (Places{0}));
  rule.positions = {Position::middle, Position::last};
  EXPECT_EQ(dropped(rule, frames), (Places{1, 2, 4}));
  rule.positions = {Position::only};
  EXPECT_EQ(dropped(rule, frames), (Places{3}));
  rule.positions = {};
  rule.opcode = wire::find_opcode("RC_RDMA_WRITE_LAST")->code;
  EXPECT_EQ(dropped(rule, frames), (Places{4}));
}

TEST_F(FaultMatch, KindsOfTcp)
{
  for (const auto& builder : every_builder()) {
    const std::vector<Frame> frames{tcp(builder, wire::tcp_syn, isn),
                                    tcp(builder, wire::tcp_ack, isn + 1, 100),
                                    tcp(builder, wire::tcp_ack, isn + 1),
                                    tcp(builder, wire::tcp_ack | wire::tcp_fin, isn + 101, 10),
                                    tcp(builder, wire::tcp_rst, isn + 1),
                                    roce(builder, "RC_SEND_ONLY", 1, 64),
                                    builder.udp(1000, 2000, payload(100)),
                                    builder.udp(1000, 2000, payload(1))};
    Rule rule = dropping();
    rule.tcp_kinds = tcp_kind_syn;
    EXPECT_EQ(dropped(rule, frames), (Places{0}));
    rule.tcp_kinds = tcp_kind_data;
    EXPECT_EQ(dropped(rule, frames), (Places{1, 3}));
    rule.tcp_kinds = tcp_kind_ack;
    EXPECT_EQ(dropped(rule, frames), (Places{2}));
    rule.tcp_kinds = tcp_kind_fin;
    EXPECT_EQ(dropped(rule, frames), (Places{3, 4}));
    rule.tcp_kinds = 0;
    rule.transport = Transport::tcp;
    EXPECT_EQ(dropped(rule, frames), (Places{0, 1, 2, 3, 4}));
    rule.transport = Transport::roce;
    EXPECT_EQ(dropped(rule, frames), (Places{5}));
    rule.transport = Transport::any;
    EXPECT_EQ(dropped(rule, frames), (Places{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(ledger().effects.size(), 6U); // per kind; two "other"
  }
}

TEST_F(FaultMatch, DirectionAndFlow)
{
  const std::vector<Frame> frames{
      roce(ipv4(), "RC_SEND_ONLY", 0, 64), roce(ipv6(), "RC_SEND_ONLY", 1, 64),
      acknowledge(ipv4_back(), Syndrome::ack(), 0), roce(ipv4(), "RC_SEND_ONLY", 0, 64, 99),
      tcp(ipv4(), wire::tcp_syn, isn)};
  Rule rule = dropping();
  rule.from = 1;
  EXPECT_EQ(dropped(rule, frames), (Places{2}));
  rule.from = {};
  rule.to = 1;
  EXPECT_EQ(dropped(rule, frames), (Places{0, 1, 3, 4}));
  rule.to = {};
  rule.flow = to_server;
  EXPECT_EQ(dropped(rule, frames), (Places{0, 1}));
  rule.flow = to_client;
  EXPECT_EQ(dropped(rule, frames), (Places{2}));
  rule.flow = tcp_to_server;
  EXPECT_EQ(dropped(rule, frames), (Places{4})) << "by its ports, also when its SYN was not seen";
  rule.sequence = Range{0, 9};
  EXPECT_EQ(dropped(rule, frames), (Places{})) << "without it there are no relative numbers";
  EXPECT_EQ(ledger().rules[0].unknown_flow, 1U);
}

TEST_F(FaultMatch, RangesAndListsOfPsnsWrap)
{
  std::vector<Frame> frames;
  for (std::uint32_t psn = 0; psn < 8; ++psn) frames.push_back(send(psn));
  frames.push_back(roce(ipv4(), "RC_SEND_ONLY", 3, 64, 99)); // of no known flow
  Rule rule = dropping();
  rule.sequence = Range{1, 4}; // 0xffffff to 2
  EXPECT_EQ(dropped(rule, frames), (Places{1, 2, 3, 4}));
  EXPECT_EQ(ledger().rules[0].unknown_flow, 1U);
  rule.sequence = {};
  rule.sequences = {0, 2, 7};
  EXPECT_EQ(dropped(rule, frames), (Places{0, 2, 7}));
  rule.sequences.assign(16, 5);
  rule.sequences.back() = 6;
  EXPECT_EQ(dropped(rule, frames), (Places{5, 6}));
  EXPECT_EQ(ledger().firings.at(0).relative, 5U);
  EXPECT_EQ(ledger().firings.at(0).sequence, 3U);
}

TEST_F(FaultMatch, SequenceNumbersOfTcpCountFromTheSyn)
{
  for (const auto& builder : {ipv4(), ipv6().vlan(7)}) {
    EXPECT_EQ(run(Program::entered, tcp(builder, wire::tcp_syn, isn)).verdict, next);
    std::vector<Frame> frames{tcp(builder, wire::tcp_syn, isn)};
    for (std::uint32_t i = 0; i < 4; ++i)
      frames.push_back(tcp(builder, wire::tcp_ack, isn + 1 + i * 100, 100));
    Rule rule = dropping();
    rule.transport = Transport::tcp;
    rule.sequence = Range{0, 0};
    EXPECT_EQ(dropped(rule, frames), (Places{0}));
    rule.sequence = Range{100, 101}; // the last byte of one, the first of the next
    EXPECT_EQ(dropped(rule, frames), (Places{1, 2}));
    rule.sequence = Range{150, 160};
    EXPECT_EQ(dropped(rule, frames), (Places{2}));
    rule.sequence = {};
    rule.sequences = {399, 1};
    EXPECT_EQ(dropped(rule, frames), (Places{1, 4}));
    rule.flow = tcp_to_server;
    EXPECT_EQ(dropped(rule, frames), (Places{1, 4}));
    rule.sequences = {};
    rule.tcp_kinds = tcp_kind_syn;
    EXPECT_EQ(dropped(rule, frames), (Places{0}));
  }
}

TEST_F(FaultMatch, TransmissionNumbers)
{
  const std::vector<Frame> frames{send(4), send(5),
                                  send(4), send(4),
                                  send(5), acknowledge(ipv4(), Syndrome::ack(), 4, server_qpn)};
  Rule rule = dropping();
  rule.sequences = {4};
  rule.transmission = Range{1, 1};
  EXPECT_EQ(dropped(rule, frames), (Places{0, 5}))
      << "an ACK of PSN 4 is no transmission of packet 4";
  rule.classes = {PacketClass::data};
  rule.transmission = Range{2, 2};
  EXPECT_EQ(dropped(rule, frames), (Places{2}));
  rule.transmission = Range{2, 9};
  rule.sequences = {};
  EXPECT_EQ(dropped(rule, frames), (Places{2, 3, 4}));
  const auto books = ledger();
  ASSERT_EQ(books.firings.size(), 3U);
  EXPECT_EQ(books.firings[1].transmission, 3U);
  EXPECT_EQ(books.firings[1].relative, 4U);
  EXPECT_EQ(books.firings[2].transmission, 2U);

  EXPECT_EQ(run(Program::entered, tcp(ipv4(), wire::tcp_syn, isn)).verdict, next);
  const std::vector<Frame> segments{tcp(ipv4(), wire::tcp_ack, isn + 1, 50),
                                    tcp(ipv4(), wire::tcp_ack, isn + 51, 50),
                                    tcp(ipv4(), wire::tcp_ack, isn + 1, 100)};
  rule.classes = {};
  rule.transport = Transport::tcp;
  EXPECT_EQ(dropped(rule, segments), (Places{2}));
}

TEST_F(FaultMatch, EveryNth)
{
  std::vector<Frame> frames;
  for (std::uint32_t psn = 0; psn < 10; ++psn) frames.push_back(send(psn));
  Rule rule = dropping();
  rule.every = 3;
  EXPECT_EQ(dropped(rule, frames), (Places{2, 5, 8}));
  EXPECT_EQ(ledger().rules[0].matched, 10U);
  EXPECT_EQ(ledger().rules[0].fired, 3U);
  rule.every_offset = 0;
  EXPECT_EQ(dropped(rule, frames), (Places{0, 3, 6, 9}));
  rule.limit = 2;
  EXPECT_EQ(dropped(rule, frames), (Places{0, 3}));
}

TEST_F(FaultMatch, TimeWindow)
{
  Rule rule = dropping();
  rule.window = Window{0, 60 * second_ns};
  arm({rule}, 1, monotonic_ns());
  EXPECT_EQ(out(send(0)), drop);
  arm({rule}, 1, monotonic_ns() - 61 * second_ns);
  EXPECT_EQ(out(send(0)), pass);
  arm({rule}, 1, monotonic_ns() + 10 * second_ns);
  EXPECT_EQ(out(send(0)), pass) << "not begun";
  rule.window = Window{};
  arm({rule}, 1, monotonic_ns() + 10 * second_ns);
  EXPECT_EQ(out(send(0)), pass) << "not begun, though it has no end";
}

TEST_F(FaultMatch, TheFirstRuleThatFiresActs)
{
  Rule third = dropping();
  third.name = "third";
  third.sequences = {1};
  Rule first = dropping();
  first.every = 2;
  Rule second = dropping();
  second.name = "second";
  second.sequences = {0, 1, 2};
  second.limit = 1;
  arm({first, second, third});
  EXPECT_EQ(out(send(0)), drop) << "by the second";
  EXPECT_EQ(out(send(1)), drop) << "by the first, its second match";
  EXPECT_EQ(out(send(2)), pass) << "the second has reached its limit";
  EXPECT_EQ(out(send(3)), drop);
  const auto books = ledger();
  EXPECT_EQ(books.rules[0].fired, 2U);
  EXPECT_EQ(books.rules[1].fired, 1U);
  EXPECT_EQ(books.rules[1].matched, 2U);
  EXPECT_EQ(books.rules[2].matched, 0U);
}

TEST_F(FaultMatch, MarkedPacketsAreNotMatchedAgain)
{
  arm({dropping()});
  EXPECT_EQ(run(Program::port_out, send(0), FAULT_MARK_ACTED).verdict, pass);
  EXPECT_EQ(ledger().rules[0].matched, 0U);
  EXPECT_EQ(ledger().at(0, 1, PacketKind::data).passed, 1U);
}

TEST_F(FaultMatch, DisarmedRulesRest)
{
  arm({dropping()});
  EXPECT_EQ(out(send(0)), drop);
  programs().disarm();
  EXPECT_EQ(out(send(0)), pass);
  EXPECT_EQ(ledger().rules[0].fired, 1U);
  EXPECT_EQ(ledger().at(0, 1, PacketKind::data).passed, 1U) << "still counted";
}

TEST_F(FaultMatch, SumsCloseOverAllThreePoints)
{
  Rule rule = dropping();
  rule.every = 10;
  arm({rule});
  for (std::uint32_t psn = 0; psn < 100; ++psn) {
    const Frame frame = send(psn);
    ASSERT_EQ(run(Program::entered, frame).verdict, next);
    if (out(frame) != pass) continue;
    ASSERT_EQ(run(Program::arrived, frame).verdict, pass);
  }
  const auto books = ledger();
  EXPECT_EQ(books.at(0, 1, PacketKind::data), (PacketCounts{100, 90, 90}));
  ASSERT_EQ(books.effects.size(), 1U);
  EXPECT_EQ(books.effects[0].dropped, 10U);
  EXPECT_EQ(check_sums(books), std::vector<std::string>{}) << text_of_failures(check_sums(books));
  run(Program::arrived, send(0));
  EXPECT_EQ(check_sums(ledger()).size(), 1U);
}

TEST_F(FaultMatch, WhatTheKernelRefusesIsASetupErrorInItsWords)
{
  // Without privilege the kernel refuses maps and programs; a child, since it can't be taken back.
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setuid(65534) != 0) ::_exit(2);
    const auto loaded = Programs::load();
    const bool right =
        !loaded && loaded.error().exit == Exit::setup && !loaded.error().hint.empty();
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(FaultMatch, WholeFramesCanBeTraced)
{
  Options options;
  options.snap = 9216;
  options.trace_bytes = 1 << 20;
  const auto loaded = Programs::load(options);
  EXPECT_TRUE(loaded) << loaded.error().message() << "\n" << loaded.error().hint;
}

TEST_F(FaultMatch, PrintsWhatThePacketsCost)
{
  arm({}, 1, 0, false);
  const Frame frame = send(1, 1024);
  for (const auto& [name, program] : {std::pair{"entered", Program::entered},
                                      {"port_out", Program::port_out},
                                      {"arrived", Program::arrived}}) {
    const auto size = programs().size(program);
    ASSERT_TRUE(size);
    const auto plain = run(program, frame, 0, 1'000'000).ns;
    std::printf(
        "%-9s %4u instructions loaded, %5u bytes compiled, %u ns a packet without rule and trace\n",
        name, size->instructions, size->compiled_bytes, plain);
  }
}

} // namespace
} // namespace rdmalab::fault::test
