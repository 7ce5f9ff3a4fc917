// The path ledger's state machine, step by step on a clock that the test moves: the code that runs
// in the kernel.
#include <cstdint>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#define PATH_MACHINE_CODE
#include "path_ledger.h"

static std::uint64_t path_clock_ns;

static __u64 path_now()
{
  return path_clock_ns;
}

namespace {

constexpr std::uint32_t client = 0;
constexpr std::uint32_t server = 1;

class PathMachine : public testing::Test {
protected:
  void SetUp() override
  {
    path_clock_ns = 1000;
    cpu.started = cpu.last = path_clock_ns;
    cpu.slot = PATH_IDLE;
  }
  std::uint64_t ns(std::uint32_t slot)
  {
    path_charge(&cpu);
    return cpu.ns[slot];
  }
  static void pass(std::uint64_t ns) { path_clock_ns += ns; }

  path_cpu cpu{};
};

TEST_F(PathMachine, AStageHasItsOwnTimeWithoutThatOfTheStagesWithin)
{
  path_switch(&cpu, path_slot(client, PATH_USER, PATH_BASE), 0);
  pass(5);
  path_sys_enter(&cpu);
  pass(7);
  path_enter(&cpu, PATH_STACK);
  pass(20);
  path_enter(&cpu, PATH_COPY);
  pass(100);
  path_leave(&cpu, PATH_COPY);
  pass(30);
  path_leave(&cpu, PATH_STACK);
  pass(2);
  path_sys_exit(&cpu);
  pass(11);
  EXPECT_EQ(ns(path_slot(client, PATH_USER, PATH_BASE)), 16U);
  EXPECT_EQ(ns(path_slot(client, PATH_SYSTEM, PATH_BASE)), 9U);
  EXPECT_EQ(ns(path_slot(client, PATH_SYSTEM, PATH_STACK)), 50U);
  EXPECT_EQ(ns(path_slot(client, PATH_SYSTEM, PATH_COPY)), 100U);
  EXPECT_EQ(cpu.unbalanced, 0U);
}

TEST_F(PathMachine, ASoftirqOnItsBackIsNotAStagesTimeButIsRememberedAsStolen)
{
  path_switch(&cpu, path_slot(client, PATH_SYSTEM, PATH_BASE), 0);
  path_enter(&cpu, PATH_STACK);
  pass(10);
  path_softirq_entry(&cpu);
  pass(3); // the way to the first packet is the softirq's
  path_place(&cpu, path_slot(server, PATH_SOFTIRQ, PATH_STACK));
  pass(40);
  path_turn(&cpu, PATH_RXE);
  pass(50);
  path_softirq_exit(&cpu);
  pass(6);
  path_leave(&cpu, PATH_STACK);
  EXPECT_EQ(ns(path_slot(client, PATH_SYSTEM, PATH_STACK)), 16U);
  EXPECT_EQ(ns(path_slot(server, PATH_SOFTIRQ, PATH_BASE)), 3U);
  EXPECT_EQ(ns(path_slot(server, PATH_SOFTIRQ, PATH_STACK)), 40U);
  EXPECT_EQ(ns(path_slot(server, PATH_SOFTIRQ, PATH_RXE)), 50U);
  EXPECT_EQ(cpu.count[client * PATH_COUNTS + PATH_STOLEN_NS], 93U);
  EXPECT_EQ(cpu.count[server * PATH_COUNTS + PATH_SOFTIRQS], 1U);
}

TEST_F(PathMachine, AnInterruptWithinASoftirqIsStolenOnce)
{
  path_switch(&cpu, path_slot(client, PATH_USER, PATH_BASE), 0);
  path_softirq_entry(&cpu);
  pass(10);
  path_irq_entry(&cpu);
  pass(20);
  path_irq_exit(&cpu);
  pass(10);
  path_softirq_exit(&cpu);
  EXPECT_EQ(cpu.count[client * PATH_COUNTS + PATH_STOLEN_NS], 40U);
  EXPECT_EQ(ns(PATH_INTERRUPT), 20U);
  EXPECT_EQ(cpu.interrupts, 1U);
}

TEST_F(PathMachine, ATaskThatIsSwitchedAwayFromKeepsItsStages)
{
  path_switch(&cpu, path_slot(client, PATH_SYSTEM, PATH_BASE), 0);
  path_enter(&cpu, PATH_STACK);
  path_enter(&cpu, PATH_SCHEDULER);
  pass(4);
  const std::uint32_t slot = cpu.slot;
  const std::uint64_t stack = cpu.stack;
  path_switch(&cpu, PATH_IDLE, 0);
  pass(1000);
  path_switch(&cpu, slot, stack);
  pass(5);
  path_leave(&cpu, PATH_SCHEDULER);
  pass(8);
  path_leave(&cpu, PATH_STACK);
  EXPECT_EQ(ns(path_slot(client, PATH_SYSTEM, PATH_SCHEDULER)), 9U);
  EXPECT_EQ(ns(path_slot(client, PATH_SYSTEM, PATH_STACK)), 8U);
  EXPECT_EQ(cpu.slot, path_slot(client, PATH_SYSTEM, PATH_BASE));
}

TEST_F(PathMachine, ALostExitEndsWithTheStageAroundAndALostEntryChangesNothing)
{
  path_switch(&cpu, path_slot(client, PATH_SYSTEM, PATH_BASE), 0);
  path_enter(&cpu, PATH_STACK);
  path_enter(&cpu, PATH_COPY);
  path_leave(&cpu, PATH_STACK); // the copy's exit was lost
  EXPECT_EQ(cpu.slot, path_slot(client, PATH_SYSTEM, PATH_BASE));
  EXPECT_EQ(cpu.unbalanced, 1U);
  path_leave(&cpu, PATH_CHECKSUM); // its entry was
  EXPECT_EQ(cpu.slot, path_slot(client, PATH_SYSTEM, PATH_BASE));
  EXPECT_EQ(cpu.unbalanced, 2U);
  path_enter(&cpu, PATH_STACK);
  path_sys_exit(&cpu); // whatever was lost: a system call ends with an empty stack
  EXPECT_EQ(cpu.slot, path_slot(client, PATH_USER, PATH_BASE));
  EXPECT_EQ(cpu.stack, 0U);
}

TEST_F(PathMachine, OutsideTheHostsContextsStagesMeanNothing)
{
  path_switch(&cpu, PATH_OTHER, 0);
  path_enter(&cpu, PATH_SCHEDULER);
  path_turn(&cpu, PATH_COPY);
  path_leave(&cpu, PATH_SCHEDULER);
  EXPECT_EQ(cpu.slot, static_cast<std::uint32_t>(PATH_OTHER));
  EXPECT_EQ(cpu.unbalanced, 0U);
}

TEST_F(PathMachine, WhateverHappensEachNanosecondIsInExactlyOneSlot)
{
  std::mt19937 random(7); // NOLINT(cert-msc32-c,cert-msc51-cpp): the same walk each time
  for (int step = 0; step < 20'000; ++step) {
    pass(random() % 50);
    const std::uint32_t stage = 1 + random() % 7;
    switch (random() % 10) {
    case 0:
      path_switch(&cpu, random() % 3 == 0 ? PATH_IDLE : path_slot(random() % 2, random() % 3, 0),
                  0);
      break;
    case 1:
      path_softirq_entry(&cpu);
      break;
    case 2:
      path_softirq_exit(&cpu);
      break;
    case 3:
      path_irq_entry(&cpu);
      break;
    case 4:
      path_irq_exit(&cpu);
      break;
    case 5:
      path_sys_enter(&cpu);
      break;
    case 6:
      path_sys_exit(&cpu);
      break;
    case 7:
      path_enter(&cpu, stage);
      break;
    case 8:
      path_leave(&cpu, stage);
      break;
    default:
      path_turn(&cpu, stage);
    }
  }
  path_charge(&cpu);
  EXPECT_EQ(std::accumulate(std::begin(cpu.ns), std::end(cpu.ns), std::uint64_t{0}),
            path_clock_ns - cpu.started);
}

} // namespace
