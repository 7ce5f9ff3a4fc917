#include "base/file.h"
#include "net/address.h"
#include "net/link.h"
#include "net/message.h"
#include "net/qdisc.h"
#include "net/rdma.h"

#include <cstdlib>

#include <gtest/gtest.h>
#include <linux/rtnetlink.h>
#include <spdlog/fmt/fmt.h>

namespace rdmalab::net {
namespace {

/// Sixteen bytes a line, as hexdump shows them, so that a difference is easy to see.
std::string hex(Bytes bytes)
{
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    text += fmt::format("{:02x}{}", std::to_integer<unsigned>(bytes[i]),
                        i % 16 == 15 || i + 1 == bytes.size() ? '\n' : ' ');
  return text;
}

/// Compares with tests/golden/netlink/NAME.hex; RDMALAB_UPDATE_GOLDEN=1 writes it instead.
void expect_golden(const std::string& name, const Message& message)
{
  const std::string path = RDMALAB_SOURCE_DIR "/tests/golden/netlink/" + name + ".hex";
  const std::string now = hex(message.bytes());
  if (std::getenv("RDMALAB_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(write_file(path, now).ok());
    FAIL() << "wrote " << path;
  }
  const auto expected = read_file(path);
  ASSERT_TRUE(expected.ok()) << expected.error().message();
  EXPECT_EQ(now, *expected) << path;
}

constexpr Mac mac_a{0x02, 0, 0, 0, 0, 0x01};
constexpr Mac mac_b{0x02, 0xfe, 0, 0, 0, 0x01};

TEST(NetlinkBytes, Veth)
{
  expect_golden("veth", veth_message({"p0", mac_b, "eth0", mac_a, 7, 4200, 2}));
}

TEST(NetlinkBytes, Bridge)
{
  expect_golden("bridge", bridge_message("br0", mac_a, 1500));
}
TEST(NetlinkBytes, Ifb)
{
  expect_golden("ifb", ifb_message("ifb0", 1500));
}
TEST(NetlinkBytes, Up)
{
  expect_golden("up", up_message("eth0"));
}
TEST(NetlinkBytes, Address)
{
  expect_golden("address", address_message(2, {10, 0, 0, 1}, 24));
}
TEST(NetlinkBytes, Neighbour)
{
  expect_golden("neighbour", neighbour_message(2, {10, 0, 0, 2}, mac_a));
}
TEST(NetlinkBytes, Forwarding)
{
  expect_golden("forwarding", forwarding_message(3, mac_a));
}
TEST(NetlinkBytes, Clsact)
{
  expect_golden("clsact", clsact_message(3));
}
TEST(NetlinkBytes, Redirect)
{
  expect_golden("redirect", redirect_message(3, 4));
}
TEST(NetlinkBytes, RdmaNewLink)
{
  expect_golden("rdma_new_link", rdma_new_link_message("rxe0", "rxe", "eth0"));
}
TEST(NetlinkBytes, RdmaDeleteLink)
{
  expect_golden("rdma_delete_link", rdma_delete_link_message(5));
}
TEST(NetlinkBytes, RdmaCounters)
{
  expect_golden("rdma_counters", rdma_counters_message(5, 1));
}

Netem everything()
{
  Netem netem;
  netem.limit_packets = 12'345;
  netem.delay_ns = 20'000;
  netem.jitter_ns = 5'000;
  netem.rate_bps = 100'000'000'000;
  netem.loss_ppm = 10'000;
  netem.loss_correlation_ppm = 250'000;
  netem.duplicate_ppm = 100;
  netem.duplicate_correlation_ppm = 1;
  netem.corrupt_ppm = 7;
  netem.corrupt_correlation_ppm = 999'999;
  netem.reorder_ppm = 500'000;
  netem.reorder_correlation_ppm = 2;
  netem.reorder_gap = 5;
  netem.seed = 0x0123456789abcdef;
  return netem;
}

TEST(NetlinkBytes, NetemWithEverything)
{
  expect_golden("netem_add", netem_message(QdiscVerb::add, 3, everything()));
}

TEST(NetlinkBytes, NetemDefault)
{
  expect_golden("netem_change_default", netem_message(QdiscVerb::change, 3, Netem{}));
}

TEST(NetlinkBytes, NetemGilbertElliott)
{
  Netem netem;
  netem.gilbert_elliott = true;
  netem.ge_p_ppm = 10'000;
  netem.ge_r_ppm = 300'000;
  netem.ge_bad_loss_ppm = 1'000'000;
  netem.ge_good_loss_ppm = 0;
  expect_golden("netem_replace_gilbert_elliott", netem_message(QdiscVerb::replace, 3, netem));
}

TEST(Attributes, StopAtMalformedOnes)
{
  Message message(RTM_NEWLINK);
  message.put(1, std::uint32_t{0xdeadbeef}).put_string(2, "abc");
  const Bytes all = message.bytes().subspan(NLMSG_HDRLEN);
  EXPECT_EQ(Attributes(all).get<std::uint32_t>(1), 0xdeadbeef);
  EXPECT_EQ(Attributes(all).text(2), "abc");
  EXPECT_FALSE(Attributes(all).find(3));
  EXPECT_FALSE(Attributes(all).get<std::uint64_t>(1)) << "too short for the type";
  EXPECT_EQ(Attributes(all, 8).text(2), "abc") << "skips a family header";
  // Every truncation: what is whole is read, the rest is not touched (ASan watches).
  for (std::size_t size = 0; size < all.size(); ++size) {
    int count = 0;
    for (const Attribute& attribute : Attributes(all.first(size))) {
      (void)attribute;
      ++count;
    }
    EXPECT_EQ(count, size < 8 ? 0 : 1) << size;
  }
  const std::array<std::byte, 4> zero_length{};
  for (const Attribute& attribute : Attributes(zero_length)) FAIL() << attribute.type;
}

TEST(Addresses, AreReadStrictly)
{
  EXPECT_EQ(*parse_mac("02:00:00:00:00:01"), mac_a);
  EXPECT_EQ(to_string(mac_b), "02:fe:00:00:00:01");
  for (const char* bad : {"", "02:00:00:00:00", "02:00:00:00:00:01:02", "2:0:0:0:0:1",
                          "02:00:00:00:00:0g", "02-00-00-00-00-01", " 02:00:00:00:00:01"})
    EXPECT_FALSE(parse_mac(bad)) << bad;
  EXPECT_EQ(*parse_ipv4("10.0.0.1"), (Ipv4{10, 0, 0, 1}));
  for (const char* bad : {"", "10.0.0", "10.0.0.256", "::1", "10.0.0.1/24"})
    EXPECT_FALSE(parse_ipv4(bad)) << bad;
}

} // namespace
} // namespace rdmalab::net
