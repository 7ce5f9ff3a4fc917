// The path ledger in this machine's own kernel, without rdma_rxe. Functions that it can't trace
// here must be named and their stages absent; the rest has to hold all the same.
#include "base/fd.h"
#include "measure/path.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rdmalab::measure {
namespace {

constexpr int rounds = 20'000;

/// A process that, told to, writes to a pipe and reads from it again, and waits.
class Endpoint {
public:
  Endpoint()
  {
    std::array<int, 2> up{};
    std::array<int, 2> down{};
    if (::pipe(up.data()) != 0 || ::pipe(down.data()) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(up[0]);
      ::close(down[1]);
      run(down[0], up[1]);
    }
    ::close(up[1]);
    ::close(down[0]);
    from_ = Fd(up[0]);
    to_ = Fd(down[1]);
  }
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  ~Endpoint()
  {
    to_.reset();
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }
  void work()
  {
    char byte = '!';
    EXPECT_EQ(::write(to_.get(), &byte, 1), 1);
    EXPECT_EQ(::read(from_.get(), &byte, 1), 1);
  }

private:
  [[noreturn]] static void run(int from, int to)
  {
    std::array<int, 2> own{};
    if (::pipe(own.data()) != 0) ::_exit(1);
    std::array<char, 64> text{};
    char order = 0;
    while (::read(from, &order, 1) == 1) {
      for (int i = 0; i < rounds; ++i)
        if (::write(own[1], text.data(), text.size()) < 0 ||
            ::read(own[0], text.data(), text.size()) < 0)
          ::_exit(1);
      if (::write(to, &order, 1) != 1) ::_exit(1);
    }
    ::_exit(0);
  }

  pid_t pid_ = -1;
  Fd from_;
  Fd to_;
};

TEST(PathLedgerInKernel, CountsSystemCallsAndAddsUp)
{
  std::string why;
  if (!cpu_ledger_supported(why)) GTEST_SKIP() << why;
  auto ledger = PathLedger::load(false);
  ASSERT_TRUE(ledger.ok()) << ledger.error().message() << "\n" << ledger.error().hint;

  Endpoint endpoint;
  struct stat status {};
  ASSERT_EQ(::stat("/proc/self/ns/net", &status), 0);
  const auto opened =
      ledger->open({{"client", status.st_ino, {endpoint.pid()}, ""}, {"fabric", 1, {}, ""}});
  ASSERT_TRUE(opened.ok()) << opened.error().message() << "\n" << opened.error().hint;
  endpoint.work(); // from its first system call on, user time is known as such
  const auto before = ledger->reading();
  endpoint.work();
  const auto after = ledger->reading();
  ASSERT_TRUE(before.ok() && after.ok());
  const record::Path path = ledger->path_between(*before, *after);

  ASSERT_EQ(path.hosts.size(), 1U) << "the fabric has no stages";
  const record::PathHost& host = path.hosts[0];
  EXPECT_EQ(host.host, "client");
  // While another task is preempted in the middle of a program, the kernel skips that program on
  // its CPU: on a busy machine some calls go by.
  for (const char* call : {"read", "write"}) {
    EXPECT_LE(host.syscalls.at(call), rounds + 2U);
    EXPECT_GT(host.syscalls.at(call), rounds * 9 / 10) << call;
  }
  EXPECT_GT(host.stage_ns.at("application"), 0U);
  EXPECT_GT(host.stage_ns.at("syscall"), host.stage_ns.at("application") / 20);

  const auto& missing = path.missing;
  EXPECT_NE(std::find(missing.begin(), missing.end(), "rxe_mr_copy"), missing.end())
      << "the module is not here";
  EXPECT_FALSE(host.stage_ns.contains("copy")) << "not all of it can be seen";

  const CpuReading cpu = after->cpu - before->cpu;
  const std::uint64_t stages =
      std::accumulate(host.stage_ns.begin(), host.stage_ns.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const auto& entry) { return sum + entry.second; });
  const record::Cpu& all = cpu.hosts[0];
  EXPECT_EQ(stages, all.app_user_ns + all.app_system_ns + all.rxe_ns + all.softirq_ns);
  std::uint64_t sum = cpu.idle_ns + cpu.interrupt_ns + cpu.other_ns;
  for (const record::Cpu& c : cpu.hosts)
    sum += c.app_user_ns + c.app_system_ns + c.rxe_ns + c.softirq_ns;
  EXPECT_EQ(sum, cpu.elapsed_ns) << "each nanosecond is in exactly one slot";
}

} // namespace
} // namespace rdmalab::measure
