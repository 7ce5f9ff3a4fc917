/* What the CPU ledger and the path ledger do alike: the books of CPUs and tasks, and the events
 * that go to the state machine as they come. Included once, behind the machine, with LEDGER(name)
 * the machine's own name for a function or a struct of both: path_cpu, cpu_ledger_cpu */
#pragma once

#include "core.h"
#include "ledger_hosts.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define E2BIG 7
#define EAGAIN 11

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct LEDGER(cpu));
} cpus SEC(".maps"), readings SEC(".maps");

/* Where tasks go on that don't run, unless the tasks themselves tell. By thread id. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 4096);
  __type(key, __u32);
  __type(value, struct LEDGER(task));
} tasks SEC(".maps");

/* CLOCK_MONOTONIC, ns. */
static __u64 LEDGER(now)(void)
{
  return bpf_ktime_get_ns();
}

static __always_inline struct LEDGER(cpu) * book(void* map)
{
  __u32 zero = 0;
  return bpf_map_lookup_elem(map, &zero);
}

/* This CPU's book if it is open. */
static __always_inline struct LEDGER(cpu) * open_book(void)
{
  struct LEDGER(cpu)* cpu = book(&cpus);
  return cpu && cpu->last ? cpu : 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit)
{
  struct LEDGER(cpu)* cpu = open_book();
  if (cpu) LEDGER(sys_exit)(cpu);
  return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct* parent, struct task_struct* child)
{
  follow_fork(parent, child);
  return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry)
{
  struct LEDGER(cpu)* cpu = open_book();
  if (cpu) LEDGER(softirq_entry)(cpu);
  return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit)
{
  struct LEDGER(cpu)* cpu = open_book();
  if (cpu) LEDGER(softirq_exit)(cpu);
  return 0;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(on_irq_entry)
{
  struct LEDGER(cpu)* cpu = open_book();
  if (cpu) LEDGER(irq_entry)(cpu);
  return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(on_irq_exit)
{
  struct LEDGER(cpu)* cpu = open_book();
  if (cpu) LEDGER(irq_exit)(cpu);
  return 0;
}

#ifdef __TARGET_ARCH_x86
/* x86's local timer is no irq_handler; arm64's is. Every expiry of a netem queue passes here. */
SEC("tp_btf/local_timer_entry")
int BPF_PROG(on_timer_entry)
{
  struct LEDGER(cpu)* cpu = open_book();
  if (cpu) LEDGER(irq_entry)(cpu);
  return 0;
}

SEC("tp_btf/local_timer_exit")
int BPF_PROG(on_timer_exit)
{
  struct LEDGER(cpu)* cpu = open_book();
  if (cpu) LEDGER(irq_exit)(cpu);
  return 0;
}
#endif
