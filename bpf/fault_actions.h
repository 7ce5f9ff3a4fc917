/* What happens to a packet on which a rule fired, and the books about it. */
#pragma once

#include "fault_bytes.h"
#include "fault_trace.h"

enum {
  NEXT = TC_ACT_UNSPEC, /* filters that follow here have their say, too */
  PASS = TC_ACT_OK,     /* none follows: saves the kernel looking for one */
};

enum { DELIVERY_TIME = 1 }; /* BPF_SKB_TSTAMP_DELIVERY_MONO */

static __always_inline void note_effect(__u32 rule, __u32 effect, __u32 place)
{
  struct fault_effect_key key = {};
  __u64 one = 1, *known;
  key.rule = rule;
  key.effect = effect;
  key.from = place >> 9 & 31;
  key.to = to_of_place(place);
  key.kind = place & 15;
  known = bpf_map_lookup_elem(&effects, &key);
  if (known)
    __sync_fetch_and_add(known, 1);
  else if (bpf_map_update_elem(&effects, &key, &one, BPF_NOEXIST))
    __sync_fetch_and_add(&lost_effects, 1);
}

static __always_inline void note_firing(struct __sk_buff* skb, const struct seen* seen,
                                        const struct packet* packet)
{
  __u64 used = __sync_fetch_and_add(&firings_used, 1);
  __u32 slot = used;
  struct fault_firing* firing;
  if (used >= firing_slots) return;
  firing = bpf_map_lookup_elem(&firings, &slot);
  if (!firing) return;
  firing->time = packet->time ? packet->time : bpf_ktime_get_ns();
  firing->sequence = packet->sequence;
  firing->relative = packet->numbered ? packet->relative : 0;
  firing->transmission = packet->transmission;
  firing->wire_length = skb->len;
  firing->flow = packet->flow;
  firing->rule = packet->fired;
  firing->kind = seen->class;
  firing->opcode = seen->opcode;
  firing->from = seen->from;
  firing->to = seen->to;
}

/* The packet's bytes go into the rule's stash. */
static __always_inline long stash(struct __sk_buff* skb, const struct seen* seen,
                                  const struct packet* packet, const struct fault_rule* rule)
{
  __u32 at = packet->fired & (FAULT_RULES - 1), length = skb->len;
  struct stash_bytes* to = bpf_map_lookup_elem(&stash_contents, &at);
  struct fault_stash* held = &stashes[at];
  if (!to || length < 1 || length > FAULT_PORT_BYTES) return -1;
  if (bpf_skb_load_bytes(skb, 0, to->bytes, length)) return -1;
  held->remaining = rule->passing;
  held->length = length;
  held->mark = (skb->mark & FAULT_MARK_TRACE) | FAULT_MARK_ACTED;
  held->flow = packet->flow;
  held->place = place_of(seen);
  __sync_fetch_and_or(&stashed, 1ULL << at);
  return 0;
}

/* This and release() are not static, so that the verifier reads each once and by itself. */
__noinline int act(struct __sk_buff* skb, const struct seen* seen, const struct packet* packet)
{
  const struct fault_rule* rule;
  __u32 at, place, mark = skb->mark;
  long failed = 0;
  if (!seen || !packet) return PASS;
  at = packet->fired & (FAULT_RULES - 1);
  place = place_of(seen);
  rule = &rules[at];

  note_firing(skb, seen, packet);
  switch (rule->action) {
  case FAULT_DROP:
    note_effect(at, FAULT_DROPPED, place);
    trace_action(mark, at, FAULT_DROP);
    return TC_ACT_SHOT;
  case FAULT_DELAY:
    failed = hold_ifindex == 0 ||
             bpf_skb_set_tstamp(skb, bpf_ktime_get_ns() + rule->delay_ns, DELIVERY_TIME);
    if (failed) break;
    skb->mark = (mark & FAULT_MARK_TRACE) | FAULT_MARK_ACTED | FAULT_MARK_HELD |
                at << FAULT_MARK_RULE_SHIFT;
    note_effect(at, FAULT_HELD, place);
    trace_action(mark, at, FAULT_DELAY);
    return bpf_redirect(hold_ifindex, 0);
  case FAULT_DUPLICATE:
    skb->mark = (mark & FAULT_MARK_TRACE) | FAULT_MARK_ACTED;
    failed = bpf_clone_redirect(skb, skb->ifindex, 0);
    if (!failed) note_effect(at, FAULT_DUPLICATED, place);
    break;
  case FAULT_REORDER:
    failed = stash(skb, seen, packet, rule);
    if (failed) break;
    note_effect(at, FAULT_HELD, place);
    trace_action(mark, at, FAULT_REORDER);
    return TC_ACT_SHOT;
  case FAULT_CORRUPT:
  case FAULT_FORGE:
    failed = change_payload(skb, seen, packet);
    break;
  case FAULT_MARK:
    failed = change_tos(skb, seen, 0xff, 3);
    break;
  case FAULT_REWRITE:
    failed = rewrite(skb, seen, rule);
    break;
  }
  if (failed)
    __sync_fetch_and_add(&states[at].failed, 1);
  else
    trace_action(mark, at, rule->action);
  return PASS;
}

/* The packet that just passed was the last that a stashed one waited for: a clone of it goes out,
 * and it becomes the stashed one. Returns TC_ACT_SHOT if that failed half way. */
__noinline int release(struct __sk_buff* skb, __u32 at)
{
  struct fault_stash* held = &stashes[at & (FAULT_RULES - 1)];
  __u32 length = held->length, slot = at;
  struct stash_bytes* from = bpf_map_lookup_elem(&stash_contents, &slot);
  if (!from || length < 1 || length > FAULT_PORT_BYTES) return PASS;
  skb->mark |= FAULT_MARK_ACTED;
  if (bpf_clone_redirect(skb, skb->ifindex, 0)) {
    __sync_fetch_and_add(&states[at & (FAULT_RULES - 1)].failed, 1);
    return PASS;
  }
  __sync_fetch_and_and(&stashed, ~(1ULL << at));
  if (bpf_skb_change_tail(skb, length, 0) || bpf_skb_store_bytes(skb, 0, from->bytes, length, 0)) {
    /* The stashed packet stays held in the books; this one is out already. */
    __sync_fetch_and_add(&states[at & (FAULT_RULES - 1)].failed, 1);
    return TC_ACT_SHOT;
  }
  skb->mark = held->mark;
  note_place(skb, held->place);
  note_effect(at, FAULT_RELEASED, held->place);
  return PASS;
}

struct passing {
  __u32 hosts; /* place without the class */
  __u32 flow;
  __u32 due; /* the first rule whose stash is due, or FAULT_RULES */
};

/* Counts a packet that passes for a stashed one of its flow; for bpf_loop(). */
static long pass_stash(__u32 i, struct passing* passing)
{
  struct fault_stash* held = &stashes[i & (FAULT_RULES - 1)];
  if (!(stashed >> (i & 63) & 1)) return 0;
  if (held->flow != passing->flow || held->place >> 4 != passing->hosts) return 0;
  if (held->remaining > 0) held->remaining--;
  if (held->remaining == 0 && passing->due == FAULT_RULES) passing->due = i;
  return 0;
}
