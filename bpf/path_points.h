/* Where the path ledger's stages begin and end: programs at functions of the kernel, any of which
 * may be missing. Part of path_ledger.bpf.c. */
#pragma once

static __always_inline int enter(__u32 stage)
{
  struct path_cpu* cpu = open_book();
  if (cpu) path_enter(cpu, stage);
  return 0;
}

static __always_inline int leave(__u32 stage)
{
  struct path_cpu* cpu = open_book();
  if (cpu) path_leave(cpu, stage);
  return 0;
}

static __always_inline int copy(__u32 copies, __u64 bytes)
{
  struct path_cpu* cpu = open_book();
  if (!cpu || cpu->slot >= PATH_MACHINE) return 0;
  path_enter(cpu, PATH_COPY);
  path_count(cpu, cpu->slot, copies, 1);
  path_count(cpu, cpu->slot, copies + 1, bytes);
  return 0;
}

/* tcp_sendmsg_locked() (tcp.c) copies by functions of lib/, which can't be traced: the copy is what
 * comes between its finding room for the payload and its turn to a new segment, to sending, or to
 * its end. A few dozen instructions of bookkeeping are in it. */
SEC("fexit/sk_page_frag_refill")
int BPF_PROG(tcp_room_exit)
{
  struct path_cpu* cpu = open_book();
  if (!cpu || !path_is(cpu->slot, PATH_SYSTEM) || (cpu->slot & 7) != PATH_STACK) return 0;
  path_turn(cpu, PATH_COPY);
  path_count(cpu, cpu->slot, PATH_COPIES_IN, 1);
  return 0;
}

static __always_inline int tcp_copied(void)
{
  struct path_cpu* cpu = open_book();
  if (cpu && path_is(cpu->slot, PATH_SYSTEM) && (cpu->slot & 7) == PATH_COPY)
    path_turn(cpu, PATH_STACK);
  return 0;
}

SEC("fentry/tcp_stream_alloc_skb")
int BPF_PROG(tcp_segment_entry)
{
  return tcp_copied();
}

SEC("fentry/tcp_write_xmit")
int BPF_PROG(tcp_write_entry)
{
  return tcp_copied();
}

SEC("fentry/skb_copy_datagram_iter")
int BPF_PROG(copy_datagram_entry, const struct sk_buff* skb, int offset, void* to, int len)
{
  return copy(PATH_COPIES_OUT, (__u32)len);
}

SEC("fexit/skb_copy_datagram_iter")
int BPF_PROG(copy_datagram_exit)
{
  return leave(PATH_COPY);
}

SEC("fentry/rxe_mr_copy")
int BPF_PROG(rxe_copy_entry, void* mr, __u64 iova, void* addr, unsigned int length,
             unsigned int direction)
{
  /* enum rxe_mr_copy_dir: 0 is to the memory region */
  return copy(direction == 0 ? PATH_COPIES_OUT : PATH_COPIES_IN, length);
}

SEC("fexit/rxe_mr_copy")
int BPF_PROG(rxe_copy_exit)
{
  return leave(PATH_COPY);
}

static __always_inline int checksum(void)
{
  struct path_cpu* cpu = open_book();
  if (!cpu || cpu->slot >= PATH_MACHINE) return 0;
  path_enter(cpu, PATH_CHECKSUM);
  path_count(cpu, cpu->slot, PATH_CHECKSUMS, 1);
  return 0;
}

SEC("fentry/rxe_icrc_check")
int BPF_PROG(icrc_check_entry)
{
  return checksum();
}

SEC("fexit/rxe_icrc_check")
int BPF_PROG(icrc_check_exit)
{
  return leave(PATH_CHECKSUM);
}

SEC("fentry/rxe_icrc_generate")
int BPF_PROG(icrc_generate_entry)
{
  return checksum();
}

/* rxe_xmit_packet() (rxe_net.c) makes the ICRC and hands the packet to IP: from here to its own
 * end it is the stack's. */
SEC("fexit/rxe_icrc_generate")
int BPF_PROG(icrc_generate_exit)
{
  struct path_cpu* cpu = open_book();
  if (cpu && path_in(cpu, PATH_CHECKSUM)) path_turn(cpu, PATH_STACK);
  return 0;
}

SEC("fexit/rxe_xmit_packet")
int BPF_PROG(rxe_xmit_exit)
{
  struct path_cpu* cpu = open_book();
  if (cpu && path_in(cpu, PATH_STACK)) path_leave(cpu, PATH_STACK);
  return 0;
}

/* UDP hands a packet over; nothing that matters follows in UDP and IP. */
SEC("fentry/rxe_udp_encap_recv")
int BPF_PROG(rxe_receive_entry)
{
  struct path_cpu* cpu = open_book();
  if (cpu) path_turn(cpu, PATH_RXE);
  return 0;
}

SEC("fentry/rxe_post_send")
int BPF_PROG(rxe_post_entry)
{
  return enter(PATH_RXE);
}

SEC("fexit/rxe_post_send")
int BPF_PROG(rxe_post_exit)
{
  return leave(PATH_RXE);
}

SEC("fentry/tcp_sendmsg")
int BPF_PROG(tcp_send_entry)
{
  return enter(PATH_STACK);
}

SEC("fexit/tcp_sendmsg")
int BPF_PROG(tcp_send_exit, void* sk, void* msg, __u64 size, int sent)
{
  struct path_cpu* cpu = open_book();
  if (!cpu || cpu->slot >= PATH_MACHINE) return 0;
  if (sent > 0) path_count(cpu, cpu->slot, PATH_BYTES_IN, (__u32)sent);
  if ((cpu->slot & 7) == PATH_COPY) path_turn(cpu, PATH_STACK);
  path_leave(cpu, PATH_STACK);
  return 0;
}

SEC("fentry/tcp_recvmsg")
int BPF_PROG(tcp_receive_entry)
{
  return enter(PATH_STACK);
}

SEC("fexit/tcp_recvmsg")
int BPF_PROG(tcp_receive_exit)
{
  return leave(PATH_STACK);
}

SEC("fentry/schedule")
int BPF_PROG(schedule_entry)
{
  return enter(PATH_SCHEDULER);
}

SEC("fexit/schedule")
int BPF_PROG(schedule_exit)
{
  return leave(PATH_SCHEDULER);
}
