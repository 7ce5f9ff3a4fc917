/* The CPU ledger's state machine and what the kernel side and the C++ side share. It compiles for
 * BPF, for C++ (src/measure/cpu.cpp) and into a unit test that runs the machine on a clock of its
 * own.
 *
 * Each CPU has one running stretch: it began at `last` and belongs to `current`. The one operation
 * that moves time is charge(): add now - last to the current account, the next stretch begins. So
 * the accounts of a CPU always add up to last - started, to the nanosecond, whatever the programs
 * do in between.
 *
 * An interrupt can come in the middle of any program here, or another task (tracing programs can be
 * preempted), and its own programs run on the same state; they leave `current` as they found it. A
 * charge therefore counts only if `last` is still what the charge began with: then nothing came in
 * between. Otherwise the clock is read again. */
#pragma once

#include <linux/types.h>

enum {
  CPU_LEDGER_HOSTS = 31, /* and the machine's four accounts make a power of two, so an index is
                            checked by a mask */
  CPU_LEDGER_ACCOUNTS = 128,
  CPU_LEDGER_NAME = 64, /* IB_DEVICE_NAME_MAX */
};

/* An account is host * 4 + kind ... */
enum cpu_ledger_kind {
  CPU_LEDGER_APP_USER = 0,
  CPU_LEDGER_APP_SYSTEM = 1,
  CPU_LEDGER_RXE = 2,
  CPU_LEDGER_SOFTIRQ = 3,
};

/* ... or one of the machine's own. */
enum cpu_ledger_account {
  CPU_LEDGER_IDLE = 124, /* the idle task, without the interrupts that wake it */
  CPU_LEDGER_OTHER =
      125, /* other processes, kernel threads, work items, packets of other namespaces */
  CPU_LEDGER_INTERRUPT = 126, /* hard interrupt handlers */
  CPU_LEDGER_UNPLACED =
      127, /* a softirq before its first packet, a worker before its first work item */
};

struct cpu_ledger_cpu {
  __u64 started;       /* when this CPU's book was opened, CLOCK_MONOTONIC ns */
  __u64 last;          /* when the running stretch began; 0: the book is closed */
  __u32 current;       /* the account of the running stretch */
  __u32 below_softirq; /* the account that the softirq interrupted */
  __u32 below_irq;     /* the account that the hard interrupt interrupted */
  __u8 in_softirq;
  __u8 in_irq;
  __u8 padding[2];
  __u64 ns[CPU_LEDGER_ACCOUNTS];
};

/* A task's account while it does not run, where that can't be told from the task itself. */
struct cpu_ledger_task {
  __u32 tgid;
  __u32 account;
};

/* Whom the accounts belong to; filled in before the books are opened. */
struct cpu_ledger_hosts {
  __u32 count;
  __u32 netns[CPU_LEDGER_HOSTS];       /* inode numbers */
  __u64 rdma_device[CPU_LEDGER_HOSTS]; /* struct ib_device *, learnt by the program at the first
                                          work item */
};

#ifdef __cplusplus
#define CPU_LEDGER_ASSERT static_assert
#else
#define CPU_LEDGER_ASSERT _Static_assert
#endif
CPU_LEDGER_ASSERT(sizeof(struct cpu_ledger_cpu) == 32 + 8 * 128, "shared with the BPF side");
CPU_LEDGER_ASSERT(sizeof(struct cpu_ledger_task) == 8, "shared with the BPF side");
CPU_LEDGER_ASSERT(sizeof(struct cpu_ledger_hosts) == 128 + 8 * 31, "shared with the BPF side");
CPU_LEDGER_ASSERT(CPU_LEDGER_HOSTS * 4 == CPU_LEDGER_IDLE,
                  "hosts' accounts end where the machine's begin");

/* The machine itself; whoever includes it with this macro set provides the clock. */
#ifdef CPU_LEDGER_MACHINE

static __u64 cpu_ledger_now(void);

static inline __u32 cpu_ledger_of(__u32 host, __u32 kind)
{
  return host * 4 + kind;
}

/* Whether the account is some host's and of this kind. */
static inline int cpu_ledger_is(__u32 account, __u32 kind)
{
  return account < CPU_LEDGER_IDLE && (account & 3) == kind;
}

static inline void cpu_ledger_charge(struct cpu_ledger_cpu* cpu)
{
  /* Interrupted every time, the stretch just goes on, and the next charge tries again. */
  for (int attempt = 0; attempt < 4; attempt++) {
    __u64 last = *(volatile __u64*)&cpu->last;
    __u64 now = cpu_ledger_now();
    if (__sync_val_compare_and_swap(&cpu->last, last, now) != last) continue;
    __sync_fetch_and_add(&cpu->ns[cpu->current & (CPU_LEDGER_ACCOUNTS - 1)], now - last);
    return;
  }
}

/* The running stretch ends here unless it goes on in the same account; reading the clock costs most
 * of all. */
static inline void cpu_ledger_become(struct cpu_ledger_cpu* cpu, __u32 account)
{
  if (cpu->current == account) return;
  cpu_ledger_charge(cpu);
  cpu->current = account;
}

/* It turned out whom the running stretch serves. What led to that (a softirq's way to its first
 * packet, a worker's to its first work item) is part of it, so an unplaced stretch changes hands
 * without being charged. */
static inline void cpu_ledger_place(struct cpu_ledger_cpu* cpu, __u32 account)
{
  if (cpu->current == CPU_LEDGER_UNPLACED)
    cpu->current = account;
  else
    cpu_ledger_become(cpu, account);
}

/* Another task runs. Neither softirqs nor interrupts are switched away from (not so on PREEMPT_RT,
 * which is refused), so whatever nesting is still noted here lost its exit. */
static inline void cpu_ledger_switch(struct cpu_ledger_cpu* cpu, __u32 account)
{
  cpu->in_softirq = 0;
  cpu->in_irq = 0;
  cpu_ledger_become(cpu, account);
}

static inline void cpu_ledger_softirq_entry(struct cpu_ledger_cpu* cpu)
{
  cpu->below_softirq = cpu->current;
  cpu->in_softirq = 1;
  cpu_ledger_become(cpu, CPU_LEDGER_UNPLACED);
}

static inline void cpu_ledger_softirq_exit(struct cpu_ledger_cpu* cpu)
{
  if (!cpu->in_softirq) return; /* the book was opened within it */
  cpu->in_softirq = 0;
  cpu_ledger_become(cpu, cpu->below_softirq);
}

static inline void cpu_ledger_irq_entry(struct cpu_ledger_cpu* cpu)
{
  if (cpu->in_irq) return; /* one handler nests in another's tracepoints: both are interrupts */
  cpu->below_irq = cpu->current;
  cpu->in_irq = 1;
  cpu_ledger_become(cpu, CPU_LEDGER_INTERRUPT);
}

static inline void cpu_ledger_irq_exit(struct cpu_ledger_cpu* cpu)
{
  if (!cpu->in_irq) return;
  cpu->in_irq = 0;
  cpu_ledger_become(cpu, cpu->below_irq);
}

/* A packet of this account's namespace is being received or sent. On a process's or worker's own
 * time that says nothing new; in a softirq it says whom the softirq works for. */
static inline void cpu_ledger_packet(struct cpu_ledger_cpu* cpu, __u32 account)
{
  if (cpu->in_softirq && !cpu->in_irq) cpu_ledger_place(cpu, account);
}

static inline void cpu_ledger_sys_enter(struct cpu_ledger_cpu* cpu)
{
  if (cpu_ledger_is(cpu->current, CPU_LEDGER_APP_USER))
    cpu_ledger_become(cpu, cpu->current + (CPU_LEDGER_APP_SYSTEM - CPU_LEDGER_APP_USER));
}

static inline void cpu_ledger_sys_exit(struct cpu_ledger_cpu* cpu)
{
  if (cpu_ledger_is(cpu->current, CPU_LEDGER_APP_SYSTEM))
    cpu_ledger_become(cpu, cpu->current - (CPU_LEDGER_APP_SYSTEM - CPU_LEDGER_APP_USER));
}

#endif
