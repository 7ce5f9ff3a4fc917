/* The path ledger's state machine and what the kernel side and the C++ side share: the CPU ledger
 * (cpu_ledger.h) told apart by stages of a message's path. It costs more, so it is kept in cells of
 * its own, in place of the CPU ledger.
 *
 * A slot is a host, a kind of context (process in user mode, process in the kernel, rxe's work
 * item, softirq) and the stage in which that context is. Each CPU has one running stretch that
 * belongs to one slot. Entering a stage keeps the one around it on a stack of 4 bits a level, in
 * one word; a task that is switched away from takes slot and stack along, a softirq and a hard
 * interrupt find the ones they interrupted again. So a stage's time is its own: without the stages
 * that it calls, and without softirqs and interrupts on its back.
 *
 * A tracing program that is interrupted while it runs makes the kernel skip the same program in
 * the interruption. So an exit or an entry may be missing, rarely; an exit that doesn't fit is
 * counted and changes nothing, and each system call, work item and softirq begins with an empty
 * stack. */
#pragma once

#include <linux/types.h>

enum {
  PATH_HOSTS = 31, /* cpu_ledger.h's CPU_LEDGER_HOSTS */
  PATH_ROWS = 32,  /* of a table by host: one more, so that an index is checked by a mask */
  PATH_SLOTS = 1024,
  PATH_COUNTS = 16,
  PATH_SYSCALLS = 512, /* numbers beyond have no table: none of them is of a host's endpoint */
  PATH_SIZES = 32,     /* classes of 512 bytes of frame */
};

/* A slot is host * 32 + kind * 8 + stage ... */
enum path_kind {
  PATH_USER = 0,
  PATH_SYSTEM = 1,
  PATH_WORK = 2,
  PATH_SOFTIRQ = 3,
};
enum path_stage {
  PATH_BASE = 0, /* what the kind is by itself: application, system call, rxe, softirq */
  PATH_COPY = 1,
  PATH_CHECKSUM = 2,
  PATH_STACK = 3,
  PATH_RXE = 4, /* rxe's part of a system call and of a softirq */
  PATH_DEVICE = 5,
  PATH_WAKEUP = 6,
  PATH_SCHEDULER = 7,
};

/* ... or one of the machine's own, from PATH_MACHINE on. */
enum path_machine {
  PATH_MACHINE = 992,
  PATH_IDLE = 992,
  PATH_OTHER = 1000,
  PATH_INTERRUPT = 1008,
  PATH_UNPLACED = 1016,
};

/* What is counted, per host. */
enum path_count {
  PATH_WAKEUPS = 0,  /* of any task, by this host's code */
  PATH_SWITCHES = 1, /* to a task of this host: endpoint or rxe worker */
  PATH_WORK_ITEMS = 2,
  PATH_SOFTIRQS = 3, /* runs of a softirq handler that served this host's packets first */
  PATH_PACKETS_IN = 4,
  PATH_PACKETS_OUT = 5,
  PATH_COPIES_IN = 6, /* payload from user memory into the kernel's */
  PATH_BYTES_IN = 7,
  PATH_COPIES_OUT = 8,
  PATH_BYTES_OUT = 9,
  PATH_CHECKSUMS = 10,
  PATH_STOLEN_NS = 11, /* softirqs and interrupts on the back of this host's endpoints */
  PATH_WAITED_NS = 12, /* from a wake-up while idle until the endpoint that was woken ran */
  PATH_BORDERS = 13,   /* stretches that ended */
};

struct path_cpu {
  __u64 started; /* when this CPU's book was opened, CLOCK_MONOTONIC ns */
  __u64 last;    /* when the running stretch began; 0: the book is closed */
  __u64 stack;   /* stages around the running one, the innermost in the lowest 4 bits */
  __u64 stack_below_softirq;
  __u64 stack_below_irq;
  __u64 softirq_began;
  __u64 irq_began;
  __u32 slot;
  __u32 slot_below_softirq;
  __u32 slot_below_irq;
  __u8 in_softirq;
  __u8 in_irq;
  __u8 padding[6];
  __u32 woken_pid; /* whom the last wake-up woke */
  __u64 woken_at;
  __u64 interrupts; /* hard interrupts handled */
  __u64 unbalanced; /* exits that fitted no entry */
  __u64 ns[PATH_SLOTS];
  __u64 count[PATH_ROWS * PATH_COUNTS];
};

/* A task's place while it does not run. */
struct path_task {
  __u32 tgid;
  __u32 slot;
  __u64 stack;
};

/* Frames between two hosts' ports, sampled one at a time. Per receiving host and size. */
struct path_wire {
  __u64 frames;
  __u64 bytes;
  __u64 ns;
  __u64 min_ns; /* 0: none yet */
};

#ifdef __cplusplus
#define PATH_ASSERT static_assert
#else
#define PATH_ASSERT _Static_assert
#endif
PATH_ASSERT(sizeof(struct path_cpu) == 104 + 8 * (1024 + 32 * 16), "shared with the BPF side");
PATH_ASSERT(sizeof(struct path_task) == 16, "shared with the BPF side");
PATH_ASSERT(sizeof(struct path_wire) == 32, "shared with the BPF side");
PATH_ASSERT(PATH_HOSTS * 32 == PATH_MACHINE, "hosts' slots end where the machine's begin");

/* The machine itself; whoever includes it with this macro set provides the clock. */
#ifdef PATH_MACHINE_CODE

static __u64 path_now(void);

static inline __u32 path_slot(__u32 host, __u32 kind, __u32 stage)
{
  return host * 32 + kind * 8 + stage;
}

static inline __u32 path_kind_of(__u32 slot)
{
  return slot >> 3 & 3;
}

static inline int path_is(__u32 slot, __u32 kind)
{
  return slot < PATH_MACHINE && path_kind_of(slot) == kind;
}

/* Whether the running stretch is some host's, in this stage. */
static inline int path_in(const struct path_cpu* cpu, __u32 stage)
{
  return cpu->slot < PATH_MACHINE && (cpu->slot & 7) == stage;
}

static inline void path_count(struct path_cpu* cpu, __u32 slot, __u32 what, __u64 amount)
{
  __u32 at = (slot >> 5) * PATH_COUNTS + what;
  __sync_fetch_and_add(&cpu->count[at & (PATH_ROWS * PATH_COUNTS - 1)], amount);
}

/* The running stretch ends. As in cpu_ledger_charge(), what came in between makes it void. */
static inline void path_charge(struct path_cpu* cpu)
{
  for (int attempt = 0; attempt < 4; attempt++) {
    __u64 last = *(volatile __u64*)&cpu->last;
    __u64 now = path_now();
    __u32 slot;
    if (__sync_val_compare_and_swap(&cpu->last, last, now) != last) continue;
    slot = cpu->slot & (PATH_SLOTS - 1);
    __sync_fetch_and_add(&cpu->ns[slot], now - last);
    path_count(cpu, slot, PATH_BORDERS, 1);
    return;
  }
}

static inline void path_become(struct path_cpu* cpu, __u32 slot, __u64 stack)
{
  if (cpu->slot != slot) {
    path_charge(cpu);
    cpu->slot = slot;
  }
  cpu->stack = stack;
}

/* A function of this stage begins; outside the hosts' contexts that means nothing. */
static inline void path_enter(struct path_cpu* cpu, __u32 stage)
{
  __u32 slot = cpu->slot;
  if (slot >= PATH_MACHINE) return;
  if ((slot & 7) != stage) path_charge(cpu);
  cpu->stack = cpu->stack << 4 | (slot & 7);
  cpu->slot = (slot & ~7U) | stage;
}

static inline void path_leave(struct path_cpu* cpu, __u32 stage)
{
  __u32 slot = cpu->slot, around;
  __u64 stack = cpu->stack;
  if (slot >= PATH_MACHINE) return;
  if ((slot & 7) != stage) {
    __sync_fetch_and_add(&cpu->unbalanced, 1);
    if ((stack & 7) != stage) return; /* its entry was lost */
    stack >>= 4;                      /* an exit within was lost */
  }
  around = (slot & ~7U) | (stack & 7);
  if (around != slot) path_charge(cpu);
  cpu->stack = stack >> 4;
  cpu->slot = around;
}

/* The running function turns to another stage, which ends where the function does. */
static inline void path_turn(struct path_cpu* cpu, __u32 stage)
{
  __u32 slot = cpu->slot;
  if (slot >= PATH_MACHINE || (slot & 7) == stage) return;
  path_charge(cpu);
  cpu->slot = (slot & ~7U) | stage;
}

/* Another task runs. See cpu_ledger_switch(). */
static inline void path_switch(struct path_cpu* cpu, __u32 slot, __u64 stack)
{
  cpu->in_softirq = 0;
  cpu->in_irq = 0;
  path_become(cpu, slot, stack);
}

/* ns of softirqs and interrupts that ran on the back of an endpoint: the scheduler counts them as
 * the endpoint's time, this book doesn't. */
static inline void path_stole(struct path_cpu* cpu, __u32 below, __u64 ns)
{
  if (below < PATH_MACHINE && path_kind_of(below) <= PATH_SYSTEM)
    path_count(cpu, below, PATH_STOLEN_NS, ns);
}

static inline void path_softirq_entry(struct path_cpu* cpu)
{
  cpu->slot_below_softirq = cpu->slot;
  cpu->stack_below_softirq = cpu->stack;
  cpu->in_softirq = 1;
  path_become(cpu, PATH_UNPLACED, 0);
  cpu->softirq_began = cpu->last;
}

static inline void path_softirq_exit(struct path_cpu* cpu)
{
  if (!cpu->in_softirq) return; /* the book was opened within it */
  cpu->in_softirq = 0;
  path_become(cpu, cpu->slot_below_softirq, cpu->stack_below_softirq);
  path_stole(cpu, cpu->slot_below_softirq, cpu->last - cpu->softirq_began);
}

static inline void path_irq_entry(struct path_cpu* cpu)
{
  if (cpu->in_irq) return; /* one handler nests in another's tracepoints: both are interrupts */
  cpu->slot_below_irq = cpu->slot;
  cpu->stack_below_irq = cpu->stack;
  cpu->in_irq = 1;
  cpu->interrupts++;
  path_become(cpu, PATH_INTERRUPT, 0);
  cpu->irq_began = cpu->last;
}

static inline void path_irq_exit(struct path_cpu* cpu)
{
  if (!cpu->in_irq) return;
  cpu->in_irq = 0;
  path_become(cpu, cpu->slot_below_irq, cpu->stack_below_irq);
  path_stole(cpu, cpu->slot_below_irq, cpu->last - cpu->irq_began);
}

/* A softirq turns out to work for this slot's host. The way there was softirq work of it. */
static inline void path_place(struct path_cpu* cpu, __u32 slot)
{
  if (cpu->slot == PATH_UNPLACED) {
    cpu->slot = slot & ~7U;
    if (path_is(slot, PATH_SOFTIRQ)) path_count(cpu, slot, PATH_SOFTIRQS, 1);
  }
  path_become(cpu, slot, 0);
}

static inline void path_sys_enter(struct path_cpu* cpu)
{
  if (path_is(cpu->slot, PATH_USER) || path_is(cpu->slot, PATH_SYSTEM)) /* its exit was lost */
    path_become(cpu, (cpu->slot & ~31U) | PATH_SYSTEM << 3, 0);
}

static inline void path_sys_exit(struct path_cpu* cpu)
{
  if (path_is(cpu->slot, PATH_SYSTEM)) path_become(cpu, cpu->slot & ~31U, 0);
}

#endif
