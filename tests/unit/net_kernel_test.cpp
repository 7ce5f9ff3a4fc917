#include "base/clock.h"
#include "base/file.h"
#include "net/fabric.h"
#include "net/gc.h"
#include "net/link.h"
#include "net/netns.h"
#include "net/offload.h"
#include "net/probe.h"
#include "net/qdisc.h"
#include "net/socket.h"
#include "net/sysctl.h"

#include <cerrno>
#include <filesystem>
#include <optional>

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/// Against this machine's kernel, whatever it can; what it truly lacks is skipped, and says so. The
/// rest is proven in the guest by net_guest_check.
namespace rdmalab::net {
namespace {

using testing::HasSubstr;

std::uint64_t own_inode()
{
  return NetNamespace::current()->inode();
}

class Kernel : public testing::Test {
protected:
  void SetUp() override
  {
    auto made = NetNamespace::anonymous();
    if (!made) GTEST_SKIP() << made.error().message();
    ns_ = std::move(*made);
    auto socket = run_in(ns_, [] { return NlSocket::open(NETLINK_ROUTE); });
    ASSERT_TRUE(socket) << socket.error().message();
    route_.emplace(std::move(*socket));
  }
  /// Names of this process, so that two test runs at once don't meet.
  static std::string unique(const std::string& name)
  {
    return "rl-t" + std::to_string(::getpid()) + "-" + name;
  }
  NetNamespace ns_;
  std::optional<NlSocket> route_;
};

TEST_F(Kernel, NamespaceHasANameAndGoesAway)
{
  const std::string name = unique("a");
  std::string path;
  {
    auto ns = NetNamespace::create(name);
    ASSERT_TRUE(ns) << ns.error().message();
    path = ns->path();
    EXPECT_EQ(path, "/run/netns/" + name);
    EXPECT_NE(ns->inode(), own_inode());
    EXPECT_EQ(NetNamespace::open(name)->inode(), ns->inode());
    const auto again = NetNamespace::create(name);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().number, EEXIST);
    EXPECT_TRUE(std::filesystem::exists(path)) << "a failed create must not remove it";
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(NetNamespace::open(name));
}

TEST_F(Kernel, BadNamespaceNamesAreRefused)
{
  for (const char* bad : {"", ".", "..", "a/b"}) EXPECT_FALSE(NetNamespace::create(bad)) << bad;
}

TEST_F(Kernel, RunInComesBack)
{
  const std::uint64_t home = own_inode();
  const auto inside = run_in(ns_, []() -> Result<std::uint64_t> { return own_inode(); });
  EXPECT_EQ(*inside, ns_.inode());
  EXPECT_EQ(own_inode(), home);
  EXPECT_FALSE(run_in(ns_, []() -> Status { return system_error(EIO, "fail"); }));
  EXPECT_EQ(own_inode(), home) << "also after an Error";
}

TEST_F(Kernel, ErrorsTellWhatTheKernelSaid)
{
  const auto missing = read_link(*route_, "nothing0");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().number, ENODEV);
  EXPECT_THAT(missing.error().message(), HasSubstr("read device nothing0"));
  Message bad = up_message("a-name-that-is-far-too-long");
  const Status refused = route_->request(bad, "set it up");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("(")) << "the extended acknowledgement";
  EXPECT_TRUE(read_link(*route_, "lo")) << "the socket is still of use";
}

TEST_F(Kernel, VethPairHasBothEndsInPlace)
{
  auto peer_ns = NetNamespace::anonymous();
  ASSERT_TRUE(peer_ns);
  auto peer_socket = run_in(*peer_ns, [] { return NlSocket::open(NETLINK_ROUTE); });
  ASSERT_TRUE(peer_socket);
  const VethSpec spec{"p0", {2, 0xfe, 0, 0, 0, 1}, "eth0", {2, 0, 0, 0, 0, 1}, peer_ns->fd(), 4200,
                      0};
  {
    auto veth = Link::veth(*route_, spec);
    if (!veth && veth.error().number == EOPNOTSUPP) GTEST_SKIP() << veth.error().message();
    ASSERT_TRUE(veth) << veth.error().message();
    EXPECT_NE(veth->index(), 0U);
    ASSERT_TRUE(set_up(*peer_socket, "eth0"));
    const auto device = wait_running(*peer_socket, "eth0");
    ASSERT_TRUE(device) << device.error().message();
    EXPECT_EQ(device->mac, "02:00:00:00:00:01");
    EXPECT_EQ(device->mtu, 4200U);
    EXPECT_TRUE(read_link(*peer_socket, "eth0", true)->statistics.contains("tx_bytes"));
    EXPECT_EQ(wait_running(*route_, "p0")->mac, "02:fe:00:00:00:01");
    EXPECT_TRUE(assert_noqueue(*peer_socket, "eth0"));
    EXPECT_FALSE(read_link(*route_, "eth0")) << "the peer is in the other namespace only";
  }
  EXPECT_FALSE(read_link(*route_, "p0"));
  EXPECT_FALSE(read_link(*peer_socket, "eth0")) << "goes with its other end";
}

TEST_F(Kernel, LinkThatIsGoneAlreadyIsNoError)
{
  auto peer_ns = NetNamespace::anonymous();
  const VethSpec spec{"p0", {2, 0xfe, 0, 0, 0, 1}, "eth0", {2, 0, 0, 0, 0, 1}, peer_ns->fd(), 1500,
                      0};
  auto veth = Link::veth(*route_, spec);
  if (!veth) GTEST_SKIP() << veth.error().message();
  Message message(RTM_DELLINK);
  ifinfomsg header{};
  header.ifi_index = static_cast<int>(veth->index());
  message.header(header);
  ASSERT_TRUE(route_->request(message, "delete it behind its back"));
  EXPECT_TRUE(veth->remove());
}

TEST_F(Kernel, BatchingOffloadsAreOffAndReadBack)
{
  auto peer_ns = NetNamespace::anonymous();
  const VethSpec spec{"p0", {2, 0xfe, 0, 0, 0, 1}, "eth0", {2, 0, 0, 0, 0, 1}, peer_ns->fd(), 1500,
                      0};
  auto veth = Link::veth(*route_, spec);
  if (!veth) GTEST_SKIP() << veth.error().message();
  auto ethtool = Ethtool::open(ns_);
  ASSERT_TRUE(ethtool);
  const auto before = ethtool->batching_offloads("p0");
  ASSERT_TRUE(before) << before.error().message();
  EXPECT_THAT(*before, testing::Contains("tx-tcp-segmentation"));
  const auto after = ethtool->disable_batching("p0");
  ASSERT_TRUE(after) << after.error().message();
  EXPECT_THAT(*after, testing::IsEmpty());
  EXPECT_THAT(*ethtool->batching_offloads("p0"), testing::IsEmpty());
  EXPECT_FALSE(ethtool->batching_offloads("nothing0"));
}

TEST(Offloads, AreToldByName)
{
  for (const char* name :
       {"tx-tcp-segmentation", "tx-generic-segmentation", "tx-udp-segmentation", "rx-gro",
        "rx-gro-hw", "rx-gro-list", "rx-udp-gro-forwarding", "rx-lro", "tx-gso-list"})
    EXPECT_TRUE(is_batching_offload(name)) << name;
  for (const char* name :
       {"tx-checksum-ip-generic", "rx-checksum", "tx-scatter-gather", "highdma", "rx-vlan-filter"})
    EXPECT_FALSE(is_batching_offload(name)) << name;
}

TEST_F(Kernel, SysctlIsTheNamespaces)
{
  const std::string key = "net/ipv4/conf/all/log_martians";
  NetNamespace home = std::move(*NetNamespace::current());
  const auto before = read_sysctl(home, key);
  if (!before) GTEST_SKIP() << before.error().message();
  const std::string other = *before == "0" ? "1" : "0";
  ASSERT_TRUE(write_sysctl(ns_, key, other));
  EXPECT_EQ(*read_sysctl(ns_, key), other);
  EXPECT_EQ(*read_sysctl(home, key), *before);
}

TEST_F(Kernel, RaisedSysctlGoesBack)
{
  const std::string key = "net/core/netdev_max_backlog";
  NetNamespace home = std::move(*NetNamespace::current());
  const auto before = read_sysctl(home, key);
  if (!before) GTEST_SKIP() << before.error().message();
  const std::uint64_t more = std::stoull(*before) + 1;
  {
    auto raised = RaisedSysctl::raise(home, key, more);
    if (!raised) GTEST_SKIP() << raised.error().message();
    EXPECT_EQ(*read_sysctl(home, key), std::to_string(more));
    const auto lower = RaisedSysctl::raise(home, key, 1);
    EXPECT_EQ(*read_sysctl(home, key), std::to_string(more)) << "never lowered";
  }
  EXPECT_EQ(*read_sysctl(home, key), *before);
}

FabricSpec two_hosts()
{
  FabricSpec spec;
  spec.hosts = {{"client", {}, "eth0", "p0", {}, "02:00:00:00:00:01", "10.0.0.1", 24},
                {"server", {}, "eth0", "p1", {}, "02:00:00:00:00:02", "10.0.0.2", 24}};
  return spec;
}

Result<Fd> udp_socket_in(const std::string& path)
{
  TRY_ASSIGN(const Fd ns, open_file(path, O_RDONLY | O_CLOEXEC));
  TRY_ASSIGN(const auto inside, EnteredNamespace::enter(ns.get()));
  Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const timeval patience{2, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  return socket;
}

TEST_F(Kernel, FabricWithoutShapersCarriesTraffic)
{
  auto fabric = Fabric::build(two_hosts());
  if (!fabric && fabric.error().number == EOPNOTSUPP) GTEST_SKIP() << fabric.error().message();
  ASSERT_TRUE(fabric) << fabric.error().message();
  EXPECT_EQ(fabric->offloads().at("client eth0"), "");
  EXPECT_EQ(fabric->offloads().at("server p1"), "");
  EXPECT_NE(fabric->netns_inode("client"), fabric->netns_inode("server"));
  EXPECT_EQ(fabric->netns_path("nobody"), "");
  EXPECT_FALSE(fabric->counters("nobody"));
  auto receiver = udp_socket_in(fabric->netns_path("server"));
  auto sender = udp_socket_in(fabric->netns_path("client"));
  ASSERT_TRUE(receiver && sender);
  const sockaddr_in server{AF_INET, htons(5000), {htonl(0x0a000002)}, {}};
  ASSERT_EQ(::bind(receiver->get(), reinterpret_cast<const sockaddr*>(&server), sizeof(server)), 0);
  ASSERT_EQ(::sendto(sender->get(), "hello", 5, 0, reinterpret_cast<const sockaddr*>(&server),
                     sizeof(server)),
            5);
  char text[16];
  ASSERT_EQ(::recv(receiver->get(), text, sizeof(text), 0), 5) << "arrives at once, or never";
  // Nothing but that packet: no ARP, no neighbour discovery, no multicast report, nothing flooded.
  const auto counters = fabric->counters("server");
  ASSERT_TRUE(counters) << counters.error().message();
  EXPECT_EQ(counters->device.at("rx_packets"), 1U);
  EXPECT_EQ(counters->device.at("tx_packets"), 0U);
  EXPECT_EQ(counters->device.at("rx_bytes"), 14U + 20 + 8 + 5);
  EXPECT_EQ(fabric->counters("client")->device.at("tx_packets"), 1U);
  EXPECT_TRUE(fabric->teardown());
}

TEST_F(Kernel, FabricThatFailsLeavesNothing)
{
  FabricSpec spec = two_hosts();
  spec.hosts[0].netns = unique("c");
  spec.hosts[1].netns = unique("s");
  spec.netns = unique("f");
  spec.hosts[1].mac = "not a mac";
  const auto fabric = Fabric::build(spec);
  ASSERT_FALSE(fabric);
  for (const auto& name : {spec.netns, spec.hosts[0].netns, spec.hosts[1].netns})
    EXPECT_FALSE(std::filesystem::exists("/run/netns/" + name)) << name;
}

TEST_F(Kernel, GarbageOfDeadRunsOnlyIsCollected)
{
  auto folder = TemporaryFolder::create("rdmalab-gc");
  ASSERT_TRUE(folder);
  const std::string dead = unique("dead");
  const std::string live = unique("live");
  const std::string foreign = "x" + unique("foreign");
  const pid_t child = ::fork();
  if (child == 0) {
    auto owner = RunOwner::claim("dead", {dead, foreign}, folder->path());
    auto ns = NetNamespace::create(dead);
    ::_exit(owner && ns ? 0 : 1); // as SIGKILL would: no destructor runs
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  auto kept = NetNamespace::create(live);
  auto others = NetNamespace::create(foreign);
  ASSERT_TRUE(kept && others);
  {
    auto owner = RunOwner::claim("live", {live}, folder->path());
    ASSERT_TRUE(owner);
    EXPECT_EQ(RunOwner::claim("live", {}, folder->path()).error().number, EEXIST);
    const auto report = collect_garbage(folder->path());
    ASSERT_TRUE(report) << report.error().message();
    EXPECT_THAT(report->removed, testing::ElementsAre(dead));
    EXPECT_THAT(report->alive, testing::ElementsAre("live"));
    EXPECT_THAT(report->problems, testing::IsEmpty());
  }
  EXPECT_FALSE(std::filesystem::exists("/run/netns/" + dead));
  EXPECT_TRUE(std::filesystem::exists("/run/netns/" + live));
  EXPECT_TRUE(std::filesystem::exists("/run/netns/" + foreign)) << "not named rl-: not ours";
  EXPECT_TRUE(std::filesystem::is_empty(folder->path()));
}

TEST(Owner, OfAnotherBootOrTimeIsDead)
{
  auto owner = this_process();
  ASSERT_TRUE(owner) << owner.error().message();
  EXPECT_TRUE(is_alive(*owner));
  Owner other = *owner;
  other.start += 1;
  EXPECT_FALSE(is_alive(other));
  other = *owner;
  other.boot_id = "another";
  EXPECT_FALSE(is_alive(other));
}

TEST(Probe, AnswersInTimeAndLeavesNothing)
{
  const auto count = [] { // open files: a namespace without a name lives as long as one of them
    const std::filesystem::directory_iterator files("/proc/self/fd");
    return std::distance(begin(files), end(files));
  };
  const auto before = count();
  const std::uint64_t start = monotonic_ns();
  const auto capabilities = probe_kernel();
  EXPECT_LT(monotonic_ns() - start, 25'000'000'000U);
  EXPECT_EQ(capabilities.size(), 9U);
  for (const Capability& one : capabilities) {
    EXPECT_EQ(one.ok, one.why.empty()) << one.name;
    EXPECT_EQ(one.ok, one.remedy.empty()) << one.name;
    std::printf("%-32s %s %s\n", one.name.c_str(), one.ok ? "yes" : "no ", one.why.c_str());
  }
  EXPECT_EQ(count(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a process was left";
}

} // namespace
} // namespace rdmalab::net
