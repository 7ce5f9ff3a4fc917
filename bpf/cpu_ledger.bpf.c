/* The CPU ledger: charges every nanosecond of every CPU to one account, at each switch. What the
 * accounts mean is told in docs/measures.md; the state machine is in cpu_ledger.h. Here the
 * kernel's events become its steps. */
#include "core.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <linux/bpf.h>
#include <stdbool.h>
#define CPU_LEDGER_MACHINE
#define LEDGER(name) cpu_ledger_##name
#include "cpu_ledger.h"

char LICENSE[] SEC("license") = "GPL";

#include "ledger_events.h" /* after the machine */

/* ---- tasks
 * ----------------------------------------------------------------------------------------------------
 */

/* The account in which a task goes on that gets the CPU. */
static __always_inline __u32 account_of_task(struct task_struct* task)
{
  __u32 pid = task->pid, tgid = task->tgid, flags = task->flags, account;
  struct cpu_ledger_task *known, first;
  __u32* host;

  if (pid == 0) return CPU_LEDGER_IDLE;
  if ((flags & PF_KTHREAD) && !(flags & PF_WQ_WORKER)) return CPU_LEDGER_OTHER;

  known = bpf_map_lookup_elem(&tasks, &pid);
  if (known && known->tgid == tgid) {
    account = known->account;
    /* What a task is unless it is preempted again: an endpoint in a system call, a worker between
     * two items. */
    if (flags & PF_KTHREAD)
      known->account = CPU_LEDGER_UNPLACED;
    else
      known->account = (account & ~3U) | CPU_LEDGER_APP_SYSTEM;
    return account;
  }
  if (flags & PF_KTHREAD) return CPU_LEDGER_UNPLACED;

  host = bpf_map_lookup_elem(&processes, &tgid);
  if (!host) return CPU_LEDGER_OTHER;
  /* Seen for the first time: a new thread, which returns from clone(), or one that waits in the
   * call in which attach() found it. A task that was in user mode then is in the right account from
   * its next call on. */
  account = cpu_ledger_of(*host, CPU_LEDGER_APP_SYSTEM);
  first.tgid = tgid;
  first.account = account;
  if (bpf_map_update_elem(&tasks, &pid, &first, BPF_ANY)) __sync_fetch_and_add(&lost, 1);
  return account;
}

static __always_inline void remember_task(struct task_struct* task, __u32 account)
{
  __u32 pid = task->pid;
  struct cpu_ledger_task *known = bpf_map_lookup_elem(&tasks, &pid), first;
  if (known) {
    known->tgid = task->tgid;
    known->account = account;
    return;
  }
  first.tgid = task->tgid;
  first.account = account;
  if (bpf_map_update_elem(&tasks, &pid, &first, BPF_ANY)) __sync_fetch_and_add(&lost, 1);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_sched_switch, bool preempt, struct task_struct* prev, struct task_struct* next,
             unsigned int prev_state)
{
  struct cpu_ledger_cpu* cpu = open_book();
  if (!cpu) return 0;
  /* An endpoint leaves from user mode when its time is up, a worker in the middle of a work item
   * only while it is runnable: rdma_rxe's work items don't sleep, and one that did would be
   * unplaced for its rest. */
  if (cpu_ledger_is(cpu->current, CPU_LEDGER_APP_USER) ||
      (cpu_ledger_is(cpu->current, CPU_LEDGER_RXE) && (preempt || prev_state == 0)))
    remember_task(prev, cpu->current);
  cpu_ledger_switch(cpu, account_of_task(next));
  return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_sys_enter)
{
  struct cpu_ledger_cpu* cpu = open_book();
  if (cpu) cpu_ledger_sys_enter(cpu);
  return 0;
}

/* ---- work items
 * -----------------------------------------------------------------------------------------------
 */

/* The end of a work item is not watched: what a worker does between two items is the last one's,
 * until the next begins or the worker sleeps. */
SEC("tp_btf/workqueue_execute_start")
int BPF_PROG(on_work, struct work_struct* work)
{
  struct cpu_ledger_cpu* cpu = open_book();
  __u32 host;
  if (!cpu || cpu->in_softirq) return 0; /* BH workqueues run in softirq and are its time */
  host = host_of_work(work);
  cpu_ledger_place(cpu, host < CPU_LEDGER_HOSTS ? cpu_ledger_of(host, CPU_LEDGER_RXE)
                                                : CPU_LEDGER_OTHER);
  return 0;
}

/* ---- softirqs and the packets in them
 * -------------------------------------------------------------------------- */

static __always_inline int packet(const struct net_device* dev)
{
  struct cpu_ledger_cpu* cpu = open_book();
  __u32 host;
  if (!cpu || !cpu->in_softirq) return 0;
  host = host_of_device(dev);
  cpu_ledger_packet(cpu, host < CPU_LEDGER_HOSTS ? cpu_ledger_of(host, CPU_LEDGER_SOFTIRQ)
                                                 : CPU_LEDGER_OTHER);
  return 0;
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(on_receive, struct sk_buff* skb)
{
  return packet(skb->dev);
}

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(on_transmit, const struct sk_buff* skb, const struct net_device* dev)
{
  return packet(dev);
}

/* ---- opening and reading a book: run on each CPU by BPF_PROG_TEST_RUN
 * ------------------------------------------- */

SEC("raw_tp")
int open_cpu(void* ctx)
{
  struct cpu_ledger_cpu* cpu = book(&cpus);
  __u64 now = cpu_ledger_now();
  if (!cpu) return E2BIG;
  cpu->current = account_of_task(bpf_get_current_task_btf());
  cpu->started = now;
  cpu->last = now;
  return 0;
}

/* Charges the running stretch and copies the book; EAGAIN if an interrupt charged something
 * meanwhile. */
SEC("raw_tp")
int read_cpu(void* ctx)
{
  struct cpu_ledger_cpu *cpu = open_book(), *reading = book(&readings);
  __u64 last;
  if (!cpu || !reading) return E2BIG;
  cpu_ledger_charge(cpu);
  last = *(volatile __u64*)&cpu->last;
  for (unsigned int i = 0; i < CPU_LEDGER_ACCOUNTS; i++)
    reading->ns[i] = *(volatile __u64*)&cpu->ns[i];
  reading->started = cpu->started;
  reading->last = last;
  reading->current = cpu->current;
  return *(volatile __u64*)&cpu->last == last ? 0 : EAGAIN;
}
