// The CPU ledger's state machine, step by step on a clock that the test moves: the code that runs
// in the kernel.
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <utility>

#include <gtest/gtest.h>

#define CPU_LEDGER_MACHINE
#include "cpu_ledger.h"

static std::uint64_t clock_ns;
static std::function<void()> interruption; // comes once, just after the clock was read

static __u64 cpu_ledger_now()
{
  const std::uint64_t read = clock_ns;
  if (const auto once = std::exchange(interruption, nullptr)) once();
  return read;
}

namespace {

constexpr std::uint32_t kClient = 0;
constexpr std::uint32_t kServer = 1;
constexpr std::uint32_t kFabric = 2;

class CpuMachine : public testing::Test {
protected:
  void SetUp() override
  {
    clock_ns = 1000;
    cpu.started = cpu.last = clock_ns;
    cpu.current = CPU_LEDGER_IDLE;
  }

  /// ns charged so far to an account, the running stretch included.
  std::uint64_t ns(std::uint32_t account)
  {
    cpu_ledger_charge(&cpu);
    return cpu.ns[account];
  }
  std::uint64_t ns(std::uint32_t host, std::uint32_t kind) { return ns(cpu_ledger_of(host, kind)); }

  cpu_ledger_cpu cpu{};
};

TEST_F(CpuMachine, TellsUserFromSystemTimeOfAnEndpoint)
{
  cpu_ledger_switch(&cpu, cpu_ledger_of(kServer, CPU_LEDGER_APP_SYSTEM));
  clock_ns += 5;
  cpu_ledger_sys_exit(&cpu);
  clock_ns += 70;
  cpu_ledger_sys_enter(&cpu);
  clock_ns += 3;
  cpu_ledger_switch(&cpu, CPU_LEDGER_IDLE);
  clock_ns += 11;
  EXPECT_EQ(ns(kServer, CPU_LEDGER_APP_USER), 70U);
  EXPECT_EQ(ns(kServer, CPU_LEDGER_APP_SYSTEM), 8U);
  EXPECT_EQ(ns(CPU_LEDGER_IDLE), 11U);
}

TEST_F(CpuMachine, SystemCallsOfOthersChangeNothing)
{
  cpu_ledger_switch(&cpu, CPU_LEDGER_OTHER);
  cpu_ledger_sys_exit(&cpu);
  clock_ns += 9;
  cpu_ledger_sys_enter(&cpu);
  EXPECT_EQ(cpu.current, static_cast<std::uint32_t>(CPU_LEDGER_OTHER));
  EXPECT_EQ(ns(CPU_LEDGER_OTHER), 9U);
}

TEST_F(CpuMachine, ChargesASoftirqToItsPacketsNotToTheProcessBelow)
{
  const auto user = cpu_ledger_of(kClient, CPU_LEDGER_APP_SYSTEM);
  cpu_ledger_switch(&cpu, user);
  clock_ns += 10;
  cpu_ledger_softirq_entry(&cpu);
  clock_ns += 4; // the way to the first packet is the first packet's
  cpu_ledger_packet(&cpu, cpu_ledger_of(kFabric, CPU_LEDGER_SOFTIRQ));
  clock_ns += 20;
  cpu_ledger_packet(&cpu, cpu_ledger_of(kServer, CPU_LEDGER_SOFTIRQ));
  clock_ns += 30;
  cpu_ledger_softirq_exit(&cpu);
  clock_ns += 1;
  EXPECT_EQ(ns(user), 11U);
  EXPECT_EQ(ns(kFabric, CPU_LEDGER_SOFTIRQ), 24U);
  EXPECT_EQ(ns(kServer, CPU_LEDGER_SOFTIRQ), 30U);
  EXPECT_EQ(ns(CPU_LEDGER_UNPLACED), 0U);
}

TEST_F(CpuMachine, ASoftirqWithoutAPacketStaysUnplaced)
{
  cpu_ledger_softirq_entry(&cpu);
  clock_ns += 6;
  cpu_ledger_softirq_exit(&cpu);
  EXPECT_EQ(ns(CPU_LEDGER_UNPLACED), 6U);
  EXPECT_EQ(ns(CPU_LEDGER_IDLE), 0U);
}

TEST_F(CpuMachine, PacketsOutsideSoftirqAreTheSendersOwnTime)
{
  const auto system = cpu_ledger_of(kClient, CPU_LEDGER_APP_SYSTEM);
  cpu_ledger_switch(&cpu, system);
  cpu_ledger_packet(&cpu, cpu_ledger_of(kClient, CPU_LEDGER_SOFTIRQ));
  clock_ns += 8;
  EXPECT_EQ(ns(system), 8U);
}

TEST_F(CpuMachine, AnInterruptThatEndsIdlenessIsNotIdle)
{
  clock_ns += 100;
  cpu_ledger_irq_entry(&cpu);
  clock_ns += 7;
  cpu_ledger_irq_exit(&cpu);
  cpu_ledger_softirq_entry(&cpu);
  clock_ns += 5;
  cpu_ledger_irq_entry(&cpu);
  clock_ns += 2;
  cpu_ledger_packet(&cpu,
                    cpu_ledger_of(kClient, CPU_LEDGER_SOFTIRQ)); // netpoll; not the softirq's own
  cpu_ledger_irq_exit(&cpu);
  cpu_ledger_packet(&cpu, cpu_ledger_of(kServer, CPU_LEDGER_SOFTIRQ));
  clock_ns += 3;
  cpu_ledger_softirq_exit(&cpu);
  EXPECT_EQ(ns(CPU_LEDGER_IDLE), 100U);
  EXPECT_EQ(ns(CPU_LEDGER_INTERRUPT), 9U);
  EXPECT_EQ(ns(CPU_LEDGER_UNPLACED), 5U);
  EXPECT_EQ(ns(kServer, CPU_LEDGER_SOFTIRQ), 3U);
  EXPECT_EQ(ns(kClient, CPU_LEDGER_SOFTIRQ), 0U);
}

TEST_F(CpuMachine, AWorkersDispatchBelongsToItsWork)
{
  cpu_ledger_switch(&cpu, CPU_LEDGER_UNPLACED);
  clock_ns += 2;
  cpu_ledger_place(&cpu, cpu_ledger_of(kClient, CPU_LEDGER_RXE));
  clock_ns += 40;
  cpu_ledger_place(&cpu, cpu_ledger_of(kServer, CPU_LEDGER_RXE)); // the next item, the same worker
  clock_ns += 50;
  cpu_ledger_place(&cpu, CPU_LEDGER_OTHER);
  clock_ns += 60;
  cpu_ledger_switch(&cpu, CPU_LEDGER_IDLE);
  EXPECT_EQ(ns(kClient, CPU_LEDGER_RXE), 42U);
  EXPECT_EQ(ns(kServer, CPU_LEDGER_RXE), 50U);
  EXPECT_EQ(ns(CPU_LEDGER_OTHER), 60U);
}

TEST_F(CpuMachine, ExitsWithoutEntriesAreIgnored)
{
  cpu_ledger_softirq_exit(&cpu); // the book was opened within a softirq
  cpu_ledger_irq_exit(&cpu);
  EXPECT_EQ(cpu.current, static_cast<std::uint32_t>(CPU_LEDGER_IDLE));
}

TEST_F(CpuMachine, ATaskSwitchEndsWhateverLostItsExit)
{
  cpu_ledger_softirq_entry(&cpu);
  cpu_ledger_switch(&cpu, CPU_LEDGER_OTHER);
  cpu_ledger_packet(&cpu, cpu_ledger_of(kClient, CPU_LEDGER_SOFTIRQ));
  cpu_ledger_softirq_exit(&cpu);
  EXPECT_EQ(cpu.current, static_cast<std::uint32_t>(CPU_LEDGER_OTHER));
}

/// An interrupt with a long softirq behind it, between a charge's reading of the clock and its
/// adding: nobody's account may go back, and each keeps what is its own.
TEST_F(CpuMachine, AnInterruptAmidAChargeCostsNobody)
{
  cpu_ledger_switch(&cpu, cpu_ledger_of(kClient, CPU_LEDGER_APP_USER));
  clock_ns += 70;
  interruption = [this] {
    clock_ns += 1;
    cpu_ledger_irq_entry(&cpu);
    clock_ns += 5;
    cpu_ledger_irq_exit(&cpu);
    cpu_ledger_softirq_entry(&cpu);
    cpu_ledger_packet(&cpu, cpu_ledger_of(kFabric, CPU_LEDGER_SOFTIRQ));
    clock_ns += 9000;
    cpu_ledger_softirq_exit(&cpu);
  };
  cpu_ledger_sys_enter(&cpu);
  clock_ns += 3;
  cpu_ledger_switch(&cpu, CPU_LEDGER_IDLE);
  EXPECT_EQ(ns(kClient, CPU_LEDGER_APP_USER), 71U);
  EXPECT_EQ(ns(kClient, CPU_LEDGER_APP_SYSTEM), 3U);
  EXPECT_EQ(ns(CPU_LEDGER_INTERRUPT), 5U);
  EXPECT_EQ(ns(kFabric, CPU_LEDGER_SOFTIRQ), 9000U);
}

/// The same with another task, to which the kernel switches for a while.
TEST_F(CpuMachine, APreemptionAmidAChargeCostsNobody)
{
  const std::uint32_t user = cpu_ledger_of(kClient, CPU_LEDGER_APP_USER);
  cpu_ledger_switch(&cpu, user);
  clock_ns += 70;
  interruption = [&] {
    cpu_ledger_switch(&cpu, cpu_ledger_of(kServer, CPU_LEDGER_APP_SYSTEM));
    clock_ns += 5'000'000;
    cpu_ledger_switch(&cpu, user);
  };
  cpu_ledger_sys_enter(&cpu);
  EXPECT_EQ(ns(kClient, CPU_LEDGER_APP_USER), 70U);
  EXPECT_EQ(ns(kServer, CPU_LEDGER_APP_SYSTEM), 5'000'000U);
}

/// No order of events, however absurd, loses or invents a nanosecond.
TEST_F(CpuMachine, AnyOrderOfEventsAddsUpToTheTimeThatPassed)
{
  std::mt19937 random(7);
  for (int step = 0; step < 100'000; ++step) {
    clock_ns += random() % 1000;
    const std::uint32_t account = random() % CPU_LEDGER_ACCOUNTS;
    switch (random() % 9) {
    case 0:
      cpu_ledger_switch(&cpu, account);
      break;
    case 1:
      cpu_ledger_sys_enter(&cpu);
      break;
    case 2:
      cpu_ledger_sys_exit(&cpu);
      break;
    case 3:
      cpu_ledger_softirq_entry(&cpu);
      break;
    case 4:
      cpu_ledger_softirq_exit(&cpu);
      break;
    case 5:
      cpu_ledger_irq_entry(&cpu);
      break;
    case 6:
      cpu_ledger_irq_exit(&cpu);
      break;
    case 7:
      cpu_ledger_packet(&cpu, account);
      break;
    default:
      cpu_ledger_place(&cpu, account);
      break;
    }
  }
  cpu_ledger_charge(&cpu);
  EXPECT_EQ(std::accumulate(std::begin(cpu.ns), std::end(cpu.ns), std::uint64_t{0}),
            clock_ns - cpu.started);
}

} // namespace
