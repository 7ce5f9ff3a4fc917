/* The path ledger's programs: the kernel's events become steps of the machine in path_ledger.h.
 * docs/measures.md defines stages and counts. What is attached at a trace point is needed; what is
 * attached at a function may be missing (path_points.h; src/measure/path_names.cpp knows what that
 * means). */
#include "core.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <linux/bpf.h>
#include <stdbool.h>
#define PATH_MACHINE_CODE
#define LEDGER(name) path_##name
#include "cpu_ledger.h"
#include "path_ledger.h"

char LICENSE[] SEC("license") = "GPL";

#include "ledger_events.h" /* after the machine */

__u32 fabric = PATH_HOSTS; /* the host that is the fabric */
__u64 syscalls[PATH_ROWS * PATH_SYSCALLS] = {};
struct path_wire wire[PATH_ROWS * PATH_SIZES] = {};

/* The frame between two ports whose time is taken. */
const void* volatile wire_frame = 0;
__u64 wire_began = 0;
__u32 wire_passed = 0; /* frames that set out meanwhile */

/* ---- tasks -------------------------------------------------------------------------------- */

/* Where a task goes on that gets the CPU. */
static __always_inline void resume(struct task_struct* task, struct path_task* at)
{
  __u32 pid = task->pid, tgid = task->tgid, flags = task->flags;
  struct path_task* known;
  __u32* host;

  at->stack = 0;
  at->slot = PATH_OTHER;
  if (pid == 0) {
    at->slot = PATH_IDLE;
    return;
  }
  if ((flags & PF_KTHREAD) && !(flags & PF_WQ_WORKER)) return;
  known = bpf_map_lookup_elem(&tasks, &pid);
  if (known && known->tgid == tgid) {
    at->slot = known->slot;
    at->stack = known->stack;
    if (flags & PF_KTHREAD) known->slot = PATH_UNPLACED; /* unless it is preempted again */
    return;
  }
  if (flags & PF_KTHREAD) {
    at->slot = PATH_UNPLACED;
    return;
  }
  /* A new thread, which returns from clone(), or one that waits in the call in which the book was
   * opened. */
  host = bpf_map_lookup_elem(&processes, &tgid);
  if (host && *host < PATH_HOSTS) at->slot = path_slot(*host, PATH_SYSTEM, PATH_BASE);
}

static __always_inline void remember(struct task_struct* task, const struct path_cpu* cpu)
{
  __u32 pid = task->pid;
  struct path_task *known = bpf_map_lookup_elem(&tasks, &pid), first;
  if (known) {
    known->tgid = task->tgid;
    known->slot = cpu->slot;
    known->stack = cpu->stack;
    return;
  }
  first.tgid = task->tgid;
  first.slot = cpu->slot;
  first.stack = cpu->stack;
  if (bpf_map_update_elem(&tasks, &pid, &first, BPF_ANY)) __sync_fetch_and_add(&lost, 1);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_sched_switch, bool preempt, struct task_struct* prev, struct task_struct* next,
             unsigned int prev_state)
{
  struct path_cpu* cpu = open_book();
  struct path_task at;
  __u32 slot;
  if (!cpu) return 0;
  slot = cpu->slot;
  /* A worker that sleeps has done its item; see cpu_ledger.bpf.c. */
  if (slot < PATH_MACHINE && (path_kind_of(slot) <= PATH_SYSTEM ||
                              (path_kind_of(slot) == PATH_WORK && (preempt || prev_state == 0))))
    remember(prev, cpu);
  resume(next, &at);
  path_switch(cpu, at.slot, at.stack);
  path_count(cpu, at.slot, PATH_SWITCHES, 1);
  /* A wake-up out of idle skips the scheduler's next look at its clock (wakeup_preempt() in
   * kernel/sched/core.c), so it counts the way from there as the endpoint's time. */
  if (at.slot < PATH_MACHINE && path_kind_of(at.slot) == PATH_SYSTEM && prev->pid == 0 &&
      cpu->woken_pid == (__u32)next->pid)
    path_count(cpu, at.slot, PATH_WAITED_NS, cpu->last - cpu->woken_at);
  return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_sys_enter, struct pt_regs* regs, long id)
{
  struct path_cpu* cpu = open_book();
  __u32 at;
  if (!cpu || cpu->slot >= PATH_MACHINE || path_kind_of(cpu->slot) > PATH_SYSTEM) return 0;
  path_sys_enter(cpu);
  at = (cpu->slot >> 5) * PATH_SYSCALLS + ((__u32)id & (PATH_SYSCALLS - 1));
  __sync_fetch_and_add(&syscalls[at & (PATH_ROWS * PATH_SYSCALLS - 1)], 1);
  return 0;
}

SEC("tp_btf/workqueue_execute_start")
int BPF_PROG(on_work, struct work_struct* work)
{
  struct path_cpu* cpu = open_book();
  __u32 host, slot;
  if (!cpu || cpu->in_softirq) return 0; /* BH workqueues run in softirq and are its time */
  host = host_of_work(work);
  slot = host < PATH_HOSTS ? path_slot(host, PATH_WORK, PATH_BASE) : PATH_OTHER;
  if (host < PATH_HOSTS) {
    if (cpu->slot == PATH_UNPLACED) path_count(cpu, slot, PATH_SWITCHES, 1);
    path_count(cpu, slot, PATH_WORK_ITEMS, 1);
  }
  path_place(cpu, slot);
  return 0;
}

/* ---- softirqs and the packets in them ------------------------------------------------------- */

static __always_inline void arrived(__u32 host, __u32 length, __u64 now)
{
  __u32 at = (host * PATH_SIZES + (length >> 9 & (PATH_SIZES - 1))) & (PATH_ROWS * PATH_SIZES - 1);
  __u64 ns = now - wire_began;
  wire_frame = 0;
  wire[at].frames++;
  wire[at].bytes += length;
  wire[at].ns += ns;
  if (wire[at].min_ns == 0 || ns < wire[at].min_ns) wire[at].min_ns = ns;
}

/* A packet reaches a host's stack, or the fabric. */
SEC("tp_btf/netif_receive_skb")
int BPF_PROG(on_receive, struct sk_buff* skb)
{
  struct path_cpu* cpu = open_book();
  __u32 host, slot = PATH_OTHER;
  if (!cpu || !cpu->in_softirq || cpu->in_irq) return 0;
  host = host_of_device(skb->dev);
  if (host < PATH_HOSTS)
    slot = path_slot(host, PATH_SOFTIRQ, host == fabric ? PATH_BASE : PATH_STACK);
  path_place(cpu, slot);
  path_count(cpu, slot, PATH_PACKETS_IN, 1);
  /* The Ethernet header is off by now. */
  if (wire_frame == skb && host != fabric) arrived(host, skb->len + 14, cpu->last);
  return 0;
}

/* A packet leaves a host by its device, or the fabric. */
SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(on_transmit, const struct sk_buff* skb, const struct net_device* dev)
{
  struct path_cpu* cpu = open_book();
  __u32 host, slot;
  if (!cpu || cpu->in_irq) return 0;
  slot = cpu->slot;
  if (cpu->in_softirq) {
    host = host_of_device(dev);
    if (slot >= PATH_MACHINE || slot >> 5 != host) {
      slot = PATH_OTHER;
      if (host < PATH_HOSTS)
        slot = path_slot(host, PATH_SOFTIRQ, host == fabric ? PATH_BASE : PATH_STACK);
      path_place(cpu, slot);
    }
  }
  if (slot >= PATH_MACHINE || slot >> 5 == fabric) return 0;
  path_enter(cpu, PATH_DEVICE);
  path_count(cpu, slot, PATH_PACKETS_OUT, 1);
  if (!wire_frame || wire_frame == skb || ++wire_passed > 4096) {
    wire_frame = skb;
    wire_began = cpu->last;
    wire_passed = 0;
  }
  return 0;
}

SEC("tp_btf/net_dev_xmit")
int BPF_PROG(on_transmitted)
{
  struct path_cpu* cpu = open_book();
  if (cpu && path_in(cpu, PATH_DEVICE) && !cpu->in_irq) path_leave(cpu, PATH_DEVICE);
  return 0;
}

/* ---- waking -----------------------------------------------------------------------------------
 */

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking)
{
  struct path_cpu* cpu = open_book();
  if (cpu) path_enter(cpu, PATH_WAKEUP);
  return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_woken, struct task_struct* task)
{
  struct path_cpu* cpu = open_book();
  if (!cpu) return 0;
  if (path_in(cpu, PATH_WAKEUP)) {
    path_count(cpu, cpu->slot, PATH_WAKEUPS, 1);
    path_leave(cpu, PATH_WAKEUP);
  }
  cpu->woken_pid = task->pid;
  cpu->woken_at = cpu->last;
  return 0;
}

#include "path_points.h"

/* ---- opening and reading a book: run on each CPU by BPF_PROG_TEST_RUN -------------------------
 */

SEC("raw_tp")
int open_cpu(void* ctx)
{
  struct path_cpu* cpu = book(&cpus);
  struct path_task at;
  __u64 now = path_now();
  if (!cpu) return E2BIG;
  resume(bpf_get_current_task_btf(), &at);
  cpu->slot = at.slot;
  cpu->stack = at.stack;
  cpu->started = now;
  cpu->last = now;
  return 0;
}

/* Charges the running stretch and copies the book; EAGAIN if an interrupt charged something
 * meanwhile. */
SEC("raw_tp")
int read_cpu(void* ctx)
{
  struct path_cpu *cpu = open_book(), *reading = book(&readings);
  if (!cpu || !reading) return E2BIG;
  path_charge(cpu);
  if (bpf_probe_read_kernel(reading, sizeof(*reading), cpu)) return E2BIG;
  return *(volatile __u64*)&cpu->last == reading->last ? 0 : EAGAIN;
}
