/// What the tests of the fault programs under BPF_PROG_TEST_RUN share: the programs, loaded, two
/// hosts whose ports are this namespace's loopback device, and packets between them.
#pragma once

#include "fault/programs.h"
#include "net/link.h"
#include "net/netns.h"
#include "net/socket.h"
#include "wire/builder.h"
#include "wire/icrc.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bpf/bpf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <unistd.h>

namespace rdmalab::fault::test {

using wire::Frame;
using wire::PacketBuilder;

inline constexpr int pass = TC_ACT_OK;
inline constexpr int next =
    TC_ACT_UNSPEC; ///< later filters have their say: `entered`, and what isn't ours
inline constexpr int drop = TC_ACT_SHOT;
inline constexpr int redirected = TC_ACT_REDIRECT;

/// The PSN with which the requester's flow begins, near the end so that it wraps.
inline constexpr std::uint32_t first_psn = 0xfffffe;
inline constexpr std::uint32_t server_qpn = 17;
inline constexpr std::uint32_t client_qpn = 18;
enum Flow : std::uint16_t { to_server, to_client, tcp_to_server, tcp_to_client };

struct Outcome {
  int verdict = 0;
  Frame frame;
  std::uint32_t mark = 0;
  std::uint64_t departure = 0; ///< skb->tstamp
  std::uint32_t ns = 0;        ///< mean over the repeats
};

/// A copy that every local device takes for its own (loopback's address is 0).
inline PacketBuilder local(PacketBuilder builder)
{
  return builder.macs({{2, 0, 0, 0, 0, 1}}, {});
}
inline PacketBuilder ipv4()
{
  return local({});
}
inline PacketBuilder ipv6()
{
  return local(PacketBuilder().addresses(*wire::parse_ip("fd00::1"), *wire::parse_ip("fd00::2")));
}
inline PacketBuilder ipv4_back()
{
  return local(PacketBuilder().addresses(*wire::parse_ip("10.0.0.2"), *wire::parse_ip("10.0.0.1")));
}
/// IPv4 and IPv6, each with and without a VLAN tag.
inline std::vector<PacketBuilder> every_builder()
{
  return {ipv4(), ipv6(), ipv4().vlan(100, 3), ipv6().vlan(4094)};
}

inline std::vector<std::byte> payload(std::size_t length)
{
  std::vector<std::byte> bytes(length);
  for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<std::byte>(i * 7 + 1);
  return bytes;
}

/// To the server's QP, or with `qpn` to another; `psn` relative to the flow's first.
inline Frame roce(const PacketBuilder& builder, std::string_view opcode, std::uint32_t psn,
                  std::size_t length = 0, std::uint32_t qpn = server_qpn)
{
  wire::RoceHeaders headers = wire::headers_of(*wire::find_opcode(opcode));
  headers.bth.destination_qp = qpn;
  headers.bth.psn = wire::psn_add(first_psn, psn);
  return builder.roce(headers, payload(length));
}
inline Frame send(std::uint32_t psn, std::size_t length = 64)
{
  return roce(ipv4(), "RC_SEND_ONLY", psn, length);
}
inline Frame acknowledge(const PacketBuilder& builder, wire::Syndrome syndrome, std::uint32_t psn,
                         std::uint32_t qpn = client_qpn)
{
  wire::RoceHeaders headers = wire::headers_of(*wire::find_opcode("RC_ACKNOWLEDGE"));
  headers.bth.destination_qp = qpn;
  headers.bth.psn = wire::psn_add(first_psn, psn);
  headers.aeth->syndrome = syndrome.encode();
  return builder.roce(headers);
}
inline Frame tcp(const PacketBuilder& builder, std::uint8_t flags, std::uint32_t sequence,
                 std::size_t length = 0)
{
  wire::TcpHeader header;
  header.flags = flags;
  header.sequence = sequence;
  return builder.tcp(header, payload(length));
}

class FaultPrograms : public testing::Test {
protected:
  void SetUp() override
  {
    if (::geteuid() != 0) GTEST_SKIP() << "loading eBPF programs needs root";
    auto ns = net::NetNamespace::anonymous();
    ASSERT_TRUE(ns) << ns.error().message();
    ns_ = std::move(*ns);
    auto inside = net::EnteredNamespace::enter(ns_.fd());
    ASSERT_TRUE(inside);
    inside_.emplace(std::move(*inside));
    auto socket = net::NlSocket::open(NETLINK_ROUTE);
    ASSERT_TRUE(socket);
    ASSERT_TRUE(net::set_up(*socket, "lo"));

    Options options;
    options.trace_bytes = 1 << 20;
    auto loaded = Programs::load(options);
    ASSERT_TRUE(loaded) << loaded.error().message() << "\n" << loaded.error().hint;
    programs_.emplace(std::move(*loaded));
    const auto set = programs().set_hosts(
        {{"client", 1, "", 1, {*wire::parse_ip("10.0.0.1"), *wire::parse_ip("fd00::1")}},
         {"server", 1, "", 1, {*wire::parse_ip("10.0.0.2"), *wire::parse_ip("fd00::2")}}});
    ASSERT_TRUE(set) << set.error().message();
    const auto flows = programs().set_flows(
        {{"qp", Transport::roce, 0, 1, server_qpn, first_psn, 0, 0, 100, 0},
         {"qp back", Transport::roce, 1, 0, client_qpn, first_psn, 0, 0, 101, 0},
         {"tcp", Transport::tcp, 0, 1, 0, 0, 40000, 5201, 102, 0},
         {"tcp back", Transport::tcp, 1, 0, 0, 0, 5201, 40000, 103, 0}});
    ASSERT_TRUE(flows) << flows.error().message();
  }

  Programs& programs() { return *programs_; }

  void arm(const std::vector<Rule>& rules, std::uint64_t seed = 1, std::uint64_t start_ns = 0,
           bool trace = true)
  {
    const auto set = programs().set_rules(rules, seed);
    ASSERT_TRUE(set) << set.error().message();
    const auto armed = programs().arm(start_ns, trace);
    ASSERT_TRUE(armed) << armed.error().message();
  }

  Outcome run(Program program, const Frame& frame, std::uint32_t mark = 0, int repeat = 1)
  {
    Outcome outcome;
    outcome.frame.resize(8192); // a released packet is longer than the one it rides on
    __sk_buff before{};
    __sk_buff after{};
    before.mark = mark;
    bpf_test_run_opts options{};
    options.sz = sizeof(options);
    options.data_in = frame.data();
    options.data_size_in = static_cast<std::uint32_t>(frame.size());
    options.data_out = outcome.frame.data();
    options.data_size_out = static_cast<std::uint32_t>(outcome.frame.size());
    options.ctx_in = &before;
    options.ctx_size_in = sizeof(before);
    options.ctx_out = &after;
    options.ctx_size_out = sizeof(after);
    options.repeat = repeat;
    const int failed = bpf_prog_test_run_opts(programs().descriptor(program), &options);
    EXPECT_EQ(failed, 0);
    outcome.verdict = static_cast<int>(options.retval);
    outcome.frame.resize(options.data_size_out);
    outcome.mark = after.mark;
    outcome.departure = after.tstamp;
    outcome.ns = options.duration;
    return outcome;
  }
  int out(const Frame& frame) { return run(Program::port_out, frame).verdict; }

  Ledger ledger()
  {
    auto read = programs().ledger();
    EXPECT_TRUE(read) << (read ? "" : read.error().message());
    return read ? std::move(*read) : Ledger{};
  }

private:
  net::NetNamespace ns_;
  std::optional<net::EnteredNamespace> inside_;
  std::optional<Programs> programs_;
};

/// Drops what it matches.
inline Rule dropping()
{
  Rule rule;
  rule.name = "drop";
  rule.action = wire::FaultAction::drop;
  return rule;
}

} // namespace rdmalab::fault::test
