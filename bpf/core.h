/* The few kernel structs that the tracing programs look into, as little of each as is read. CO-RE
 * moves every access to where the running kernel keeps the field, so these need no order and no
 * padding; a field that is gone makes the load fail, which is wanted. No vmlinux.h: the build needs
 * no kernel's BTF. */
#pragma once

#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* include/linux/sched.h */
struct task_struct {
  int pid;
  int tgid;
  unsigned int flags;
};

/* include/linux/ns_common.h, include/net/net_namespace.h */
struct ns_common {
  unsigned int inum;
};
struct net {
  struct ns_common ns;
};
typedef struct {
  struct net* net;
} possible_net_t;

/* include/linux/netdevice.h */
struct net_device {
  possible_net_t nd_net;
};

/* include/linux/skbuff.h */
struct sk_buff {
  struct net_device* dev;
  unsigned int len;
};

/* include/linux/workqueue_types.h */
struct work_struct {
  void (*func)(struct work_struct* work);
};

/* include/rdma/ib_verbs.h */
struct ib_device {
  char name[64];
};
struct ib_qp {
  struct ib_device* device;
};

/* drivers/infiniband/sw/rxe/rxe_task.h, rxe_verbs.h: in the module's BTF */
struct rxe_qp {
  struct ib_qp ibqp;
};
struct rxe_task {
  struct work_struct work;
  struct rxe_qp* qp;
};

#pragma clang attribute pop

/* include/linux/sched.h */
#define PF_WQ_WORKER 0x00000020
#define PF_KTHREAD 0x00200000
