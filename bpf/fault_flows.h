/* Which flow a packet belongs to, and whether a rule could act on it at all. */
#pragma once

#include "fault_parse.h"

/* `transport`: the packet's, TRANSPORT_BYTES of it. */
static __always_inline struct fault_flow_slot* find_flow(const struct seen* seen,
                                                         const __u8* transport)
{
  bool tcp = seen->class >= FAULT_TCP_SYN;
  __u32 identifier = tcp ? *(const __u32*)transport
                         : *(const __u32*)(transport + UDP_BYTES + 4) & bpf_htonl(0xffffff);
  __u64 key = fault_flow_key(seen->from & 31, seen->to & 31, tcp, identifier);
  struct fault_flow_slot* slot =
      &flow_slots[fault_flow_bucket(key, flow_factor) * FAULT_FLOW_BUCKET];
  for (__u32 i = 0; i < FAULT_FLOW_BUCKET; i++, slot++) {
    if (!slot->flow) return NULL;
    if (slot->key == key) return slot;
  }
  return NULL;
}

static __always_inline void learn_stream(struct __sk_buff* skb, const struct seen* seen)
{
  const __u8* end = (const __u8*)(long)skb->data_end;
  const __u8* tcp = (const __u8*)(long)skb->data + (seen->transport & 127);
  struct fault_stream_key key = {};
  struct fault_flow_slot* slot;
  __u32 first;
  if (tcp + TRANSPORT_BYTES > end) return;
  key.source_port = *(const __u16*)tcp;
  key.destination_port = *(const __u16*)(tcp + 2);
  key.from = seen->from;
  key.to = seen->to;
  first = bpf_ntohl(*(const __u32*)(tcp + 4));
  slot = find_flow(seen, tcp);
  if (slot) {
    slot->first = first;
    slot->begun = 1;
  }
  if (bpf_map_update_elem(&streams, &key, &first, BPF_ANY)) __sync_fetch_and_add(&lost_streams, 1);
}

/* Asked where a packet enters, since its headers are read there anyway: whether no rule of its port
 * could act on it or count it, whatever the time and the dice. Most packets of most labs are such,
 * and pass the port for the price of a bit in their mark. */
static __always_inline bool is_cold(struct __sk_buff* skb, const struct seen* seen)
{
  const __u8* end = (const __u8*)(long)skb->data_end;
  const __u8* transport = (const __u8*)(long)skb->data + (seen->transport & 127);
  const struct fault_flow_slot* slot = NULL;
  const struct fault_flow* flow;
  __u32 relative;
  if (transport + TRANSPORT_BYTES > end) return false;
  if (seen->class != FAULT_OTHER) slot = find_flow(seen, transport);
  if (!slot) return !(seen->kinds & ports[seen->to & (FAULT_HOSTS - 1)].kinds);
  flow = &flows[(slot->flow - 1) & (FAULT_FLOWS - 1)];
  if (!(seen->kinds & flow->kinds)) return true;
  if (seen->class >= FAULT_TCP_SYN) return false; /* a segment covers a range, which may wrap */
  relative = (bpf_ntohl(*(const __u32*)(transport + UDP_BYTES + 8)) - slot->first) & 0xffffff;
  return relative < flow->from || relative > flow->to;
}
