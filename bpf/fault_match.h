/* Which rule acts on a packet. Only packets of a port that has rules come here. */
#pragma once

#include "fault_flows.h"

/* What rules ask for beyond what every packet pays for. */
struct packet {
  __u64 time; /* CLOCK_MONOTONIC ns; 0: not read */
  __u64 data_number;
  __u64 identity;
  __u64 ordinal;
  __u32 sequence; /* as it stands in the packet */
  __u32 relative;
  __u32 span; /* sequence numbers that it covers beyond the first */
  __u32 transmission;
  __u32 payload; /* bytes */
  __u32 payload_offset;
  __u32 kinds;
  __u16 flow;
  __u16 opcode;
  __u8 numbered; /* the flow is known, and so is the relative number */
  __u8 from;
  __u8 to;
  __u8 position;
  __u32 fired; /* the rule that acts, or FAULT_RULES */
};

static __always_inline void study_roce(const __u8* udp, const struct seen* seen,
                                       struct packet* packet)
{
  const __u8* bth = udp + UDP_BYTES;
  struct fault_flow_slot* slot;
  __u32 headers = UDP_BYTES + opcode_headers[seen->opcode];
  __u32 length = load16(udp + 4);
  __u32 behind = headers + ((bth[1] >> 4) & 3U) + ICRC_BYTES;
  packet->opcode = seen->opcode;
  packet->payload = length > behind ? length - behind : 0;
  packet->payload_offset = seen->transport + headers;
  packet->sequence = bpf_ntohl(*(const __u32*)(bth + 8)) & 0xffffff;
  slot = find_flow(seen, udp);
  if (!slot) return;
  packet->flow = slot->flow - 1;
  packet->relative = (packet->sequence - slot->first) & 0xffffff;
  packet->numbered = 1;
}

static __always_inline void study_tcp(const __u8* tcp, const struct seen* seen,
                                      struct packet* packet)
{
  struct fault_flow_slot* slot;
  __u32 headers = (__u32)(tcp[12] >> 4) * 4;
  packet->payload = seen->network_bytes > headers ? seen->network_bytes - headers : 0;
  packet->payload_offset = seen->transport + headers;
  packet->sequence = bpf_ntohl(*(const __u32*)(tcp + 4));
  packet->span = packet->payload > 1 ? packet->payload - 1 : 0;
  slot = find_flow(seen, tcp);
  if (!slot) return;
  packet->flow = slot->flow - 1;
  packet->relative = packet->sequence - slot->first;
  packet->numbered = slot->begun;
}

/* Not static, so that the verifier reads it once and by itself. */
__noinline __u32 count_transmission(__u64 key)
{
  __u32 hash = key * 0x9e3779b97f4a7c15ULL >> 32;
  for (__u32 i = 0; i < FAULT_TRIES_PROBES; i++) {
    __u32 at = (hash + i) & transmission_mask;
    __u64 held, *slot = bpf_map_lookup_elem(&transmissions, &at);
    if (!slot) break;
    held = *slot;
    if (!held) {
      if (transmissions_used >= most_transmissions) break;
      held = __sync_val_compare_and_swap(slot, 0, key | 1);
      if (!held) {
        __sync_fetch_and_add(&transmissions_used, 1);
        return 1;
      }
    }
    if ((held ^ key) >> FAULT_TRIES_BITS == 0)
      return (__sync_fetch_and_add(slot, 1) & ((1U << FAULT_TRIES_BITS) - 1)) + 1;
  }
  __sync_fetch_and_add(&lost_transmissions, 1);
  return 0;
}

static __always_inline void study(struct __sk_buff* skb, const struct seen* seen, __u32 needs,
                                  struct packet* packet)
{
  const __u8* end = (const __u8*)(long)skb->data_end;
  const __u8* transport = (const __u8*)(long)skb->data + (seen->transport & 127);
  packet->kinds = seen->kinds;
  packet->position = seen->position;
  packet->from = seen->from;
  packet->to = seen->to;
  if (needs & FAULT_NEED_TIME) packet->time = bpf_ktime_get_ns();
  packet->flow = FAULT_NO_FLOW;
  packet->opcode = FAULT_NO_OPCODE;
  packet->fired = FAULT_RULES;
  if (transport + TRANSPORT_BYTES > end || seen->class == FAULT_OTHER) return;
  if (seen->class >= FAULT_TCP_SYN)
    study_tcp(transport, seen, packet);
  else
    study_roce(transport, seen, packet);
  if (packet->flow != FAULT_NO_FLOW) {
    struct fault_flow* flow = &flows[packet->flow & (FAULT_FLOWS - 1)];
    packet->identity = flow->identity;
    packet->ordinal = flow->ordinal;
    if ((needs & FAULT_NEED_DATA_NUMBER) &&
        (seen->kinds & (1U << FAULT_DATA | 1U << FAULT_TCP_DATA)))
      packet->data_number = __sync_fetch_and_add(&flow->data_packets, 1);
  }
  if ((needs & FAULT_NEED_TRANSMISSION) && packet->numbered)
    packet->transmission =
        count_transmission(fault_tries_key(packet->flow, seen->class & 15, packet->relative));
}

/* Whether `value` is one of the sequence numbers that the packet covers. */
static __always_inline bool covers(const struct packet* packet, __u32 value)
{
  return value - packet->relative <= packet->span;
}

static __always_inline bool in_list(const struct fault_rule* rule, const struct packet* packet)
{
  __u32 length = rule->list_length;
  for (__u32 i = 0; i < FAULT_LIST && i < length; i++)
    if (covers(packet, rule->list[i])) return true;
  return false;
}

static __always_inline bool matches(const struct fault_rule* rule, struct fault_rule_state* state,
                                    const struct packet* packet)
{
  __u32 if_ = rule->conditions;
  if (!(rule->kinds & packet->kinds)) return false;
  if (rule->flow != FAULT_NO_FLOW && rule->flow != packet->flow) return false;
  if (rule->from != FAULT_ANY && rule->from != packet->from) return false;
  if (rule->to != FAULT_ANY && rule->to != packet->to) return false;
  if (rule->positions && !(rule->positions >> (packet->position & 7) & 1)) return false;
  if (rule->opcode != FAULT_NO_OPCODE && rule->opcode != packet->opcode) return false;
  if (rule->pattern_length && rule->pattern_offset + rule->pattern_length > packet->payload)
    return false;
  if (if_ & FAULT_IF_WINDOW) {
    __u64 since = packet->time - start_ns;
    if ((__s64)since < 0 || since < rule->window_from || since >= rule->window_to) return false;
  }
  if (if_ & (FAULT_IF_RANGE | FAULT_IF_LIST | FAULT_IF_TRANSMISSION | FAULT_IF_CHANCE)) {
    if (!packet->numbered) {
      __sync_fetch_and_add(&state->unknown, 1);
      return false;
    }
  }
  if ((if_ & FAULT_IF_RANGE) &&
      !(packet->relative <= rule->range_to && packet->relative + packet->span >= rule->range_from))
    return false;
  if ((if_ & FAULT_IF_LIST) && !in_list(rule, packet)) return false;
  if ((if_ & FAULT_IF_TRANSMISSION) && (packet->transmission < rule->transmission_from ||
                                        packet->transmission > rule->transmission_to))
    return false;
  return true;
}

/* The dice, for the `number`-th match of the rule. */
static __always_inline bool selects(const struct fault_rule* rule, struct fault_rule_state* state,
                                    const struct packet* packet, __u64 number)
{
  __u32 if_ = rule->conditions;
  if ((if_ & FAULT_IF_EVERY) && rule->every && number % rule->every != rule->every_offset)
    return false;
  if (if_ & FAULT_IF_CHANCE) {
    __u64 draw = if_ & FAULT_IF_SHARED
                     ? fault_draw(rule->seed, packet->ordinal, packet->data_number)
                     : fault_draw(rule->seed, packet->identity,
                                  fault_number(packet->relative, packet->transmission));
    if (draw >= rule->chance) return false;
  }
  if (if_ & FAULT_IF_BURST) {
    __u64 draw = fault_draw(rule->seed, 0, number);
    if (state->bad)
      state->bad = draw >= rule->bad_to_good;
    else
      state->bad = draw < rule->good_to_bad;
    if (!state->bad) return false;
  }
  return true;
}

struct search {
  struct packet* packet;
  struct fault_port* port;
};

/* For bpf_loop(): 1 stops it, the rule that fires is found. */
static long try_rule(__u32 i, struct search* search)
{
  struct packet* packet = search->packet;
  __u32 at = search->port->rules[i & (FAULT_RULES - 1)] & (FAULT_RULES - 1);
  struct fault_rule* rule = &rules[at];
  struct fault_rule_state* state = &states[at];
  __u64 number;
  if (!matches(rule, state, packet)) return 0;
  number = __sync_fetch_and_add(&state->matched, 1);
  if (!selects(rule, state, packet, number)) return 0;
  if (state->fired >= rule->limit) return 0;
  if (rule->action == FAULT_REORDER && (stashed >> at & 1)) {
    __sync_fetch_and_add(&state->busy, 1);
    return 0;
  }
  __sync_fetch_and_add(&state->fired, 1);
  packet->fired = at;
  return 1;
}
