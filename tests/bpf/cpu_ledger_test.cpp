// The CPU ledger in this machine's own kernel, without rdma_rxe: ratios, no absolute times, since
// the machine may be loaded. Skipped, with the reason, where the programs can't be loaded.
#include "base/fd.h"
#include "measure/cpu.h"

#include <array>
#include <cstdint>
#include <ctime>
#include <functional>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rdmalab::measure {
namespace {

/// What a child did, by its own reckoning.
struct Work {
  std::uint64_t netns = 0;
  std::uint64_t cpu_ns = 0; ///< CLOCK_PROCESS_CPUTIME_ID, interrupts on its back included
};

std::uint64_t inode_of(const char* path)
{
  struct stat status {};
  return ::stat(path, &status) == 0 ? status.st_ino : 0;
}

std::uint64_t process_cpu_ns()
{
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(t.tv_nsec);
}

/// A child that prepares, waits in a system call to be let go, works, and waits again.
class Child {
public:
  Child(const std::function<void()>& prepare, const std::function<void()>& work)
  {
    std::array<int, 2> up{};
    std::array<int, 2> down{};
    if (::pipe(up.data()) != 0 || ::pipe(down.data()) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(up[0]);
      ::close(down[1]);
      run(down[0], up[1], prepare, work);
    }
    ::close(up[1]);
    ::close(down[0]);
    from_ = Fd(up[0]);
    to_ = Fd(down[1]);
    ready_ = receive();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child()
  {
    to_.reset();
    ::waitpid(pid_, nullptr, 0);
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] std::uint64_t netns() const { return ready_.netns; }

  /// Lets it work, and returns when it is done and waits.
  Work work()
  {
    EXPECT_EQ(::write(to_.get(), "!", 1), 1);
    return receive();
  }

private:
  [[noreturn]] static void run(int from, int to, const std::function<void()>& prepare,
                               const std::function<void()>& work)
  {
    prepare();
    Work report{inode_of("/proc/self/ns/net"), 0};
    char order = 0;
    bool sent = ::write(to, &report, sizeof(report)) == sizeof(report);
    while (sent && ::read(from, &order, 1) == 1) {
      const auto begin = process_cpu_ns();
      work();
      report.cpu_ns = process_cpu_ns() - begin;
      sent = ::write(to, &report, sizeof(report)) == sizeof(report);
    }
    ::_exit(0);
  }
  Work receive()
  {
    Work report;
    EXPECT_EQ(::read(from_.get(), &report, sizeof(report)), static_cast<ssize_t>(sizeof(report)));
    return report;
  }

  pid_t pid_ = -1;
  Fd from_;
  Fd to_;
  Work ready_;
};

void burn_user()
{
  volatile std::uint64_t sink = 0;
  for (std::uint64_t i = 0; i < 60'000'000; ++i) sink = sink + i;
}

/// What burn_system() reads into: touched before, since a page fault is no system call; large,
/// since entering and leaving the kernel is user time and slow on some virtual machines.
std::vector<char> buffer;

void touch_buffer()
{
  buffer.assign(16 << 20, 'x');
}

void burn_system()
{
  const Fd zero(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  for (int i = 0; i < 100; ++i)
    if (::read(zero.get(), buffer.data(), buffer.size()) < 0) ::_exit(1);
}

void nothing() {}

/// A namespace of its own, with loopback up.
void own_network()
{
  if (::unshare(CLONE_NEWNET) != 0) ::_exit(1);
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  request.ifr_name[0] = 'l';
  request.ifr_name[1] = 'o';
  request.ifr_flags = IFF_UP;
  if (::ioctl(socket.get(), SIOCSIFFLAGS, &request) != 0) ::_exit(1);
}

void send_datagrams()
{
  const Fd receiver(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const Fd sender(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(4791);
  const auto* to = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(receiver.get(), to, sizeof(address)) != 0) ::_exit(1);
  std::array<char, 1024> payload{};
  for (int i = 0; i < 20'000; ++i) {
    ::sendto(sender.get(), payload.data(), payload.size(), 0, to, sizeof(address));
    ::recv(receiver.get(), payload.data(), payload.size(), MSG_DONTWAIT);
  }
}

class CpuLedgerInKernel : public testing::Test {
protected:
  void SetUp() override
  {
    std::string why;
    if (!cpu_ledger_supported(why)) GTEST_SKIP() << why;
  }

  /// What the ledger says about one round of a child's work.
  static CpuReading observe(const std::vector<CpuHost>& hosts, Child& child, Work& work)
  {
    auto ledger = CpuLedger::attach(hosts);
    if (!ledger) {
      ADD_FAILURE() << ledger.error().message() << "\n" << ledger.error().hint;
      return {};
    }
    auto before = ledger->reading();
    work = child.work();
    auto after = ledger->reading();
    if (!before || !after) {
      ADD_FAILURE() << "the ledger can't be read";
      return {};
    }
    auto used = *after - *before;
    auto sum = used.idle_ns + used.interrupt_ns + used.other_ns;
    for (const auto& host : used.hosts)
      sum += host.app_user_ns + host.app_system_ns + host.rxe_ns + host.softirq_ns;
    EXPECT_EQ(sum, used.elapsed_ns) << "each nanosecond belongs to exactly one account";
    EXPECT_GE(used.cpus, 1U);
    return used;
  }
};

/// The ledger's figure against the scheduler's: equal, but for interrupts and softirqs on the
/// task's back.
void expect_agreement(const record::Cpu& host, const Work& work)
{
  const auto app = static_cast<double>(host.app_user_ns + host.app_system_ns);
  const auto scheduled = static_cast<double>(work.cpu_ns);
  EXPECT_GT(app, 0.80 * scheduled);
  EXPECT_LT(app, 1.05 * scheduled);
}

TEST_F(CpuLedgerInKernel, ChargesAComputingProcessToUser)
{
  Child child(nothing, burn_user);
  Work work;
  const auto used = observe({{"client", child.netns(), {child.pid()}, ""}}, child, work);
  ASSERT_EQ(used.hosts.size(), 1U);
  const auto& host = used.hosts[0];
  expect_agreement(host, work);
  EXPECT_GT(host.app_user_ns, 20 * host.app_system_ns);
  EXPECT_EQ(host.rxe_ns, 0U);
}

TEST_F(CpuLedgerInKernel, ChargesSystemCallsToSystem)
{
  Child child(touch_buffer, burn_system);
  Work work;
  const auto used = observe({{"client", child.netns(), {child.pid()}, ""}}, child, work);
  ASSERT_EQ(used.hosts.size(), 1U);
  expect_agreement(used.hosts[0], work);
  EXPECT_GT(used.hosts[0].app_system_ns, 5 * used.hosts[0].app_user_ns);
}

TEST_F(CpuLedgerInKernel, CountsThreadsAndChildrenThatAppearLater)
{
  Child child(nothing, [] {
    std::thread(burn_user).join();
    const pid_t pid = ::fork();
    if (pid == 0) {
      burn_user();
      ::_exit(0);
    }
    ::waitpid(pid, nullptr, 0);
  });
  Work work; // without the grandchild, which does as much again
  const auto used = observe({{"client", child.netns(), {child.pid()}, ""}}, child, work);
  ASSERT_EQ(used.hosts.size(), 1U);
  EXPECT_GT(static_cast<double>(used.hosts[0].app_user_ns), 1.5 * static_cast<double>(work.cpu_ns));
  EXPECT_GT(used.hosts[0].app_user_ns, 10 * used.hosts[0].app_system_ns);
}

TEST_F(CpuLedgerInKernel, LeavesOtherProcessesOut)
{
  Child endpoint(nothing, nothing);
  Child stranger(nothing, burn_user);
  Work work;
  const auto used = observe({{"client", endpoint.netns(), {endpoint.pid()}, ""}}, stranger, work);
  ASSERT_EQ(used.hosts.size(), 1U);
  EXPECT_EQ(used.hosts[0].app_user_ns, 0U);
  EXPECT_GT(static_cast<double>(used.other_ns), 0.8 * static_cast<double>(work.cpu_ns));
}

TEST_F(CpuLedgerInKernel, ChargesSoftirqsToThePacketsNamespace)
{
  Child child(own_network, send_datagrams);
  ASSERT_NE(child.netns(), inode_of("/proc/self/ns/net"));
  Work work;
  const auto used = observe(
      {{"sender", child.netns(), {child.pid()}, ""}, {"elsewhere", 1, {}, ""}}, child, work);
  ASSERT_EQ(used.hosts.size(), 2U);
  // Loopback delivers in a softirq on the sender's back: the scheduler calls it the process's time,
  // the ledger doesn't.
  EXPECT_GT(static_cast<double>(used.hosts[0].softirq_ns), 0.05 * static_cast<double>(work.cpu_ns));
  EXPECT_LT(used.hosts[0].app_system_ns + used.hosts[0].app_user_ns, work.cpu_ns);
  EXPECT_EQ(used.hosts[1].softirq_ns, 0U);
}

TEST(CpuLedger, WithoutTheModuleAHostWithADeviceIsAnError)
{
  if (::access("/sys/kernel/btf/rdma_rxe", R_OK) == 0) GTEST_SKIP() << "rdma_rxe is loaded here";
  const auto ledger = CpuLedger::attach({{"client", 1, {}, "rxe0"}});
  ASSERT_FALSE(ledger.ok());
  EXPECT_EQ(ledger.error().exit, Exit::setup);
  EXPECT_NE(ledger.error().message().find("rdma_rxe"), std::string::npos)
      << ledger.error().message();
}

TEST_F(CpuLedgerInKernel, RefusesMoreHostsThanItHasAccountsFor)
{
  const auto ledger = CpuLedger::attach(std::vector<CpuHost>(32));
  ASSERT_FALSE(ledger.ok());
  EXPECT_EQ(ledger.error().number, E2BIG);
}

} // namespace
} // namespace rdmalab::measure
