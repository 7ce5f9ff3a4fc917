/// Two hosts and a bridge of this kernel, the fault programs attached, raw sockets at both ends.
#pragma once

#include "base/clock.h"
#include "base/fd.h"
#include "fault/attachment.h"
#include "fault/programs.h"
#include "net/fabric.h"
#include "net/netns.h"
#include "wire/builder.h"
#include "wire/icrc.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/pkt_sched.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace rdmalab::fault::test {

using wire::FaultAction;
using wire::Frame;

inline constexpr std::uint16_t server_port = 5201;

inline std::vector<std::byte> payload(std::size_t length)
{
  std::vector<std::byte> bytes(length);
  for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<std::byte>(i * 7 + 1);
  return bytes;
}

/// From the client, or back.
inline wire::PacketBuilder builder(bool back = false)
{
  const wire::MacAddress client{{2, 0, 0, 0, 0, 1}};
  const wire::MacAddress server{{2, 0, 0, 0, 0, 2}};
  const auto client_ip = *wire::parse_ip("10.0.0.1");
  const auto server_ip = *wire::parse_ip("10.0.0.2");
  wire::PacketBuilder made;
  if (back) return made.macs(server, client).addresses(server_ip, client_ip);
  return made.macs(client, server).addresses(client_ip, server_ip);
}

inline Frame send(std::uint32_t psn, std::size_t length = 1024)
{
  wire::RoceHeaders headers = wire::headers_of(*wire::find_opcode("RC_SEND_ONLY"));
  headers.bth.destination_qp = 17;
  headers.bth.psn = psn;
  return builder().roce(headers, payload(length));
}

inline Rule acting(FaultAction action)
{
  Rule rule;
  rule.name = "act";
  rule.action = action;
  rule.transport = Transport::roce;
  return rule;
}

/// By whether tcx may be used.
class FaultFabric : public testing::TestWithParam<bool> {
protected:
  void SetUp() override
  {
    if (::geteuid() != 0) GTEST_SKIP() << "namespaces and eBPF programs need root";
    build({});
    if (IsSkipped() || HasFatalFailure()) return;
    Options options;
    options.trace_bytes = 16 << 20;
    options.tcx = GetParam();
    filters_follow_ = !GetParam(); // both ways are tried
    auto loaded = Programs::load(options);
    ASSERT_TRUE(loaded) << loaded.error().message() << "\n" << loaded.error().hint;
    programs_.emplace(std::move(*loaded));
    attach();
  }

  void build(const std::vector<net::ShaperSpec>& shapers)
  {
    net::FabricSpec spec;
    spec.mtu = 4200;
    spec.hosts = {{"client", "", "eth0", "p0", "", "02:00:00:00:00:01", "10.0.0.1", 24},
                  {"server", "", "eth0", "p1", "", "02:00:00:00:00:02", "10.0.0.2", 24}};
    spec.shapers = shapers;
    fabric_.reset();
    auto fabric = net::Fabric::build(spec);
    if (!fabric && (fabric.error().number == EOPNOTSUPP || fabric.error().number == ENOENT))
      GTEST_SKIP() << fabric.error().message();
    ASSERT_TRUE(fabric) << fabric.error().message();
    fabric_.emplace(std::move(*fabric));
  }

  void attach()
  {
    const auto attached = programs().attach(
        fabric_->fabric_path(), {port("client", "10.0.0.1"), port("server", "10.0.0.2")});
    ASSERT_TRUE(attached) << attached.error().message() << "\n" << attached.error().hint;
    client_ = packet_socket("client");
    server_ = packet_socket("server");
  }

  Port port(const std::string& host, const char* ip)
  {
    return {host,
            fabric_->port_index(host),
            fabric_->netns_path(host),
            fabric_->device_index(host),
            {*wire::parse_ip(ip)},
            filters_follow_};
  }

  Programs& programs() { return *programs_; }
  net::Fabric& fabric() { return *fabric_; }

  Fd socket_in(const std::string& host, int family, int type, int protocol)
  {
    const Fd ns(::open(fabric_->netns_path(host).c_str(), O_RDONLY | O_CLOEXEC));
    const auto inside = net::EnteredNamespace::enter(ns.get());
    EXPECT_TRUE(inside);
    return Fd(::socket(family, type | SOCK_CLOEXEC, protocol));
  }

  Fd packet_socket(const std::string& host)
  {
    Fd made = socket_in(host, AF_PACKET, SOCK_RAW, 0);
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = static_cast<int>(fabric_->device_index(host));
    EXPECT_EQ(::bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    const int ignore = 1;
    EXPECT_EQ(::setsockopt(made.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &ignore, sizeof(ignore)),
              0);
    return made;
  }

  void arm(const std::vector<Rule>& rules)
  {
    const auto set = programs().set_rules(rules, 1);
    ASSERT_TRUE(set) << set.error().message() << " " << set.error().hint;
    const auto flows = programs().set_flows({{"qp", Transport::roce, 0, 1, 17, 0, 0, 0, 1, 0}});
    ASSERT_TRUE(flows);
    const auto armed = programs().arm(monotonic_ns());
    ASSERT_TRUE(armed) << armed.error().message();
  }

  void transmit(const Frame& frame)
  {
    EXPECT_EQ(::send(client_.get(), frame.data(), frame.size(), 0),
              static_cast<ssize_t>(frame.size()));
  }

  /// What the server got; waits for more at most so long.
  std::vector<Frame> received(int wait_ms = 100)
  {
    std::vector<Frame> frames;
    pollfd event{server_.get(), POLLIN, 0};
    while (::poll(&event, 1, wait_ms) > 0) {
      Frame frame(8192);
      const auto length = ::recv(server_.get(), frame.data(), frame.size(), 0);
      if (length <= 0) break;
      frame.resize(static_cast<std::size_t>(length));
      frames.push_back(std::move(frame));
    }
    return frames;
  }

  Ledger closed_books()
  {
    auto books = programs().ledger();
    EXPECT_TRUE(books);
    if (!books) return {};
    EXPECT_THAT(check_sums(*books), testing::IsEmpty());
    return std::move(*books);
  }

  /// Programs that do nothing, where ours would be: what the hooks themselves cost.
  std::vector<Attachment> attach_empty()
  {
    const std::array<bpf_insn, 2> instructions{
        {{BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, -1}, {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}}};
    const Fd program(bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "empty", "GPL", instructions.data(),
                                   instructions.size(), nullptr));
    EXPECT_TRUE(program.valid());
    std::vector<Attachment> made;
    const auto attach = [&](const std::string& netns, std::uint32_t ifindex, Hook hook) {
      auto fd = std::make_shared<Fd>(::open(netns.c_str(), O_RDONLY | O_CLOEXEC));
      auto one = Attachment::attach(program.get(), fd, ifindex, hook,
                                    GetParam() ? Way::best : Way::clsact, "empty");
      EXPECT_TRUE(one);
      if (one) made.push_back(std::move(*one));
    };
    for (const char* host : {"client", "server"}) {
      attach(fabric_->fabric_path(), fabric_->port_index(host), Hook::ingress);
      attach(fabric_->fabric_path(), fabric_->port_index(host), Hook::egress);
      attach(fabric_->netns_path(host), fabric_->device_index(host), Hook::ingress);
    }
    return made;
  }

  /// A byte stream from the client to the server; returns how many bytes arrived right.
  std::size_t stream(std::size_t length, const Rule& rule)
  {
    const Fd listener = socket_in("server", AF_INET, SOCK_STREAM, 0);
    const int yes = 1;
    ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server_port);
    address.sin_addr.s_addr = inet_addr("10.0.0.2");
    const auto* to = reinterpret_cast<const sockaddr*>(&address);
    EXPECT_EQ(::bind(listener.get(), to, sizeof(address)), 0);
    EXPECT_EQ(::listen(listener.get(), 1), 0);
    const Fd sender = socket_in("client", AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(::connect(sender.get(), to, sizeof(address)), 0);
    const Fd receiver(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));

    sockaddr_in own{};
    socklen_t size = sizeof(own);
    EXPECT_EQ(::getsockname(sender.get(), reinterpret_cast<sockaddr*>(&own), &size), 0);
    EXPECT_TRUE(programs().set_rules({rule}, 1));
    EXPECT_TRUE(programs().set_flows(
        {{"tcp", Transport::tcp, 0, 1, 0, 0, ntohs(own.sin_port), server_port, 1, 0}}));
    EXPECT_TRUE(programs().arm(monotonic_ns()));

    const auto sent = payload(length);
    std::thread writer([&sender, &sent] {
      for (std::size_t done = 0; done < sent.size();) {
        const auto written = ::send(sender.get(), sent.data() + done, sent.size() - done, 0);
        if (written <= 0) return;
        done += static_cast<std::size_t>(written);
      }
      ::shutdown(sender.get(), SHUT_WR);
    });
    std::vector<std::byte> got;
    std::array<std::byte, 16384> part{};
    for (;;) {
      const auto count = ::recv(receiver.get(), part.data(), part.size(), 0);
      if (count <= 0) break;
      got.insert(got.end(), part.begin(), part.begin() + count);
    }
    writer.join();
    return got == sent ? got.size() : 0;
  }

  bool filters_follow_ = true;

private:
  std::optional<net::Fabric> fabric_;
  std::optional<Programs> programs_;
  Fd client_;
  Fd server_;
};

} // namespace rdmalab::fault::test
