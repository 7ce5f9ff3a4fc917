/* Whom a ledger's accounts belong to: the hosts' namespaces, endpoint processes and rxe devices, as
 * the programs of cpu_ledger.bpf.c and path_ledger.bpf.c look them up. src/measure/accounts.h fills
 * them in. */
#pragma once

#include "core.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <stdbool.h>

/* false: no host has an rxe device, and the module need not be there. */
const volatile bool with_rxe = true;

struct cpu_ledger_hosts hosts = {};
__u64 rxe_work_func = 0; /* rdma_rxe's do_work(), once it was seen */
__u64 lost = 0;          /* updates that a full map refused: figures would be wrong */

/* Endpoint processes: tgid to host. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1024);
  __type(key, __u32);
  __type(value, __u32);
} processes SEC(".maps");

struct device_name {
  char text[CPU_LEDGER_NAME];
};

/* rxe devices: name to host. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, CPU_LEDGER_HOSTS);
  __type(key, struct device_name);
  __type(value, __u32);
} devices SEC(".maps");

/* Work functions that are not rdma_rxe's do_work(). */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1024);
  __type(key, __u64);
  __type(value, __u8);
} foreign_funcs SEC(".maps");

/* Whether the function is rdma_rxe's do_work(); asked once for each function. */
static __always_inline bool learn_func(__u64 func)
{
  static const char format[] = "%ps";
  static const char wanted[] = "do_work [rdma_rxe]";
  char symbol[64] = {};
  __u8 one = 1;
  long length = bpf_snprintf(symbol, sizeof(symbol), format, &func, sizeof(func));
  bool same = length >= (long)sizeof(wanted);
#pragma unroll
  for (unsigned int i = 0; i < sizeof(wanted) - 1; i++)
    if (symbol[i] != wanted[i]) same = false;
  if (same)
    rxe_work_func = func;
  else
    bpf_map_update_elem(&foreign_funcs, &func, &one, BPF_ANY);
  return same;
}

/* The host whose rxe device the work item's QP belongs to, or CPU_LEDGER_HOSTS. */
static __always_inline __u32 host_of_rxe_work(struct work_struct* work)
{
  struct rxe_task* task = (void*)work - bpf_core_field_offset(struct rxe_task, work);
  struct ib_device* device = BPF_CORE_READ(task, qp, ibqp.device);
  struct device_name name = {};
  __u32 *host, i;

  for (i = 0; i < CPU_LEDGER_HOSTS && i < hosts.count; i++)
    if (hosts.rdma_device[i] == (__u64)device) return i;
  if (bpf_core_read_str(name.text, sizeof(name.text), &device->name) < 0) return CPU_LEDGER_HOSTS;
  host = bpf_map_lookup_elem(&devices, &name);
  if (!host || *host >= CPU_LEDGER_HOSTS) return CPU_LEDGER_HOSTS;
  hosts.rdma_device[*host] = (__u64)device;
  return *host;
}

/* The host of an rxe work item, or CPU_LEDGER_HOSTS for any other. */
static __always_inline __u32 host_of_work(struct work_struct* work)
{
  __u64 func = (__u64)work->func;
  if (!with_rxe) return CPU_LEDGER_HOSTS;
  if (func != rxe_work_func && (bpf_map_lookup_elem(&foreign_funcs, &func) || !learn_func(func)))
    return CPU_LEDGER_HOSTS;
  return host_of_rxe_work(work);
}

/* The host whose namespace the device is in, or CPU_LEDGER_HOSTS. */
static __always_inline __u32 host_of_device(const struct net_device* dev)
{
  __u32 netns = dev->nd_net.net->ns.inum, i;
  for (i = 0; i < CPU_LEDGER_HOSTS && i < hosts.count; i++)
    if (hosts.netns[i] == netns) return i;
  return CPU_LEDGER_HOSTS;
}

/* An endpoint's children work for its host. */
static __always_inline void follow_fork(struct task_struct* parent, struct task_struct* child)
{
  __u32 from = parent->tgid, to = child->tgid;
  __u32* host;
  if (from == to) return;
  host = bpf_map_lookup_elem(&processes, &from);
  if (!host) {
    bpf_map_delete_elem(&processes, &to); /* the number may have been an endpoint's before */
    return;
  }
  if (bpf_map_update_elem(&processes, &to, host, BPF_ANY)) __sync_fetch_and_add(&lost, 1);
}
