/* One trace record for a packet at one point. */
#pragma once

#include "fault_parse.h"

/* Returns the record's place plus one, 0 if there is no room. */
static __always_inline __u32 trace_packet(struct __sk_buff* skb, __u32 point, __u32 host)
{
  __u32 slot = __sync_fetch_and_add(&trace_used, 1), keep = snap, length = skb->len;
  const __u8 *data, *end;
  struct fault_record* record;
  /* Only after 2^32 packets would it begin anew. */
  record = bpf_map_lookup_elem(&trace, &slot);
  if (!record) return 0;
  record->time = bpf_ktime_get_ns();
  record->wire_length = length;
  record->vlan_tci = skb->vlan_tci;
  record->has_vlan = skb->vlan_present;
  record->host = host;
  record->point = point;
  record->action = 0;
  record->rule = 0;
  data = (const __u8*)(long)skb->data;
  end = (const __u8*)(long)skb->data_end;
  if (data + keep <= end) {
    __u64* to = (__u64*)(record + 1);
    for (__u32 i = 0; i < keep; i += FAULT_SNAP_STEP) {
      const __u64* words = (const __u64*)(data + i);
      for (__u32 word = 0; word < FAULT_SNAP_STEP / 8; word++) to[word] = words[word];
      to += FAULT_SNAP_STEP / 8;
    }
    record->captured = keep;
  } else {
    if (length > keep) length = keep;
    record->captured = 0;
    if (length > 0 && bpf_skb_load_bytes(skb, 0, record + 1, length) == 0)
      record->captured = length;
  }
  return slot + 1;
}

/* The packet entered with this mark; what a rule did to it later is told there. */
static __always_inline void trace_action(__u32 mark, __u32 rule, __u32 action)
{
  __u32 slot = (mark & FAULT_MARK_TRACE) - 1;
  struct fault_record* record;
  if (!(mark & FAULT_MARK_TRACE)) return;
  record = bpf_map_lookup_elem(&trace, &slot);
  if (!record) return;
  record->rule = rule + 1;
  record->action = action;
}
