/* The fault programs. A packet of the lab meets three of them:
 *   entered   where it comes into the fabric, at the port of the host that sent it;
 *   port_out  before the queue of the port that it leaves through: here rules act;
 *   arrived   at the device of the host that it is meant for.
 * All three count it by hosts and class, so that what went missing between two of them can be told.
 * A delayed packet waits in the queue of a device of its own and comes back by `release_held`. */
#include "fault_actions.h"

static __always_inline void learn_stream(struct __sk_buff* skb, const struct seen* seen)
{
  const __u8* end = (const __u8*)(long)skb->data_end;
  const __u8* tcp = (const __u8*)(long)skb->data + (seen->transport & 127);
  struct fault_stream_key key = {};
  struct fault_stream first = {.flow = FAULT_NO_FLOW, .seen_syn = 1}, *known;
  if (tcp + TRANSPORT_BYTES > end) return;
  key.source_port = *(const __u16*)tcp;
  key.destination_port = *(const __u16*)(tcp + 2);
  key.from = seen->from;
  key.to = seen->to;
  first.isn = bpf_ntohl(*(const __u32*)(tcp + 4));
  known = bpf_map_lookup_elem(&streams, &key);
  if (known) {
    known->isn = first.isn;
    known->seen_syn = 1;
  } else if (bpf_map_update_elem(&streams, &key, &first, BPF_NOEXIST)) {
    __sync_fetch_and_add(&lost_streams, 1);
  }
}

SEC("tc")
int entered(struct __sk_buff* skb)
{
  struct seen seen;
  if (!look(skb, &seen)) return PASS;
  count(FAULT_SENT, &seen);
  if (seen.class == FAULT_TCP_SYN) learn_stream(skb, &seen);
  if (tracing) skb->mark = trace_packet(skb, FAULT_SENT, seen.from);
  return PASS;
}

/* Rules of the port; a function of its own, since most packets of most labs don't need it. */
static __noinline int with_rules(struct __sk_buff* skb, struct seen* seen)
{
  struct packet packet = {};
  struct fault_port* port = &ports[seen->to & 31];
  struct search search = {.packet = &packet, .port = port};
  struct passing passing = {.from = seen->from, .to = seen->to, .due = FAULT_RULES};
  int verdict = PASS;
  study(skb, seen, port->needs, &packet);
  bpf_loop(port->rule_count, try_rule, &search, 0);
  if (packet.fired < FAULT_RULES) verdict = act(skb, seen, &packet);
  if (verdict != PASS || !stashed) return verdict;
  passing.flow = packet.flow;
  bpf_loop(FAULT_RULES, pass_stash, &passing, 0);
  return passing.due < FAULT_RULES ? release(skb, seen, passing.due) : PASS;
}

SEC("tc")
int port_out(struct __sk_buff* skb)
{
  struct seen seen;
  struct fault_port* port;
  int verdict = PASS;
  if (!look(skb, &seen)) return PASS;
  port = &ports[seen.to & 31];
  if (port->ifindex != skb->ifindex) return PASS; /* flooded: it isn't for the host behind */
  if (skb->mark & FAULT_MARK_ACTED) {
    __u32 mark = skb->mark;
    if (mark & FAULT_MARK_HELD)
      note_effect(mark >> FAULT_MARK_RULE_SHIFT & (FAULT_RULES - 1), FAULT_RELEASED, seen.from,
                  seen.to, seen.class);
  } else if (port->rule_count) {
    verdict = with_rules(skb, &seen);
  }
  if (verdict == PASS) count(FAULT_PASSED, &seen);
  return verdict;
}

SEC("tc")
int arrived(struct __sk_buff* skb)
{
  struct seen seen;
  if (skb->pkt_type == PACKET_OTHERHOST) return PASS; /* flooded */
  if (!look(skb, &seen)) return PASS;
  count(FAULT_ARRIVED, &seen);
  if (tracing) trace_packet(skb, FAULT_ARRIVED, seen.to);
  return PASS;
}

/* At the far end of the device that holds delayed packets. */
SEC("tc")
int release_held(struct __sk_buff* skb)
{
  struct seen seen;
  if (!(skb->mark & FAULT_MARK_HELD) || !look(skb, &seen)) return TC_ACT_SHOT;
  return bpf_redirect(ports[seen.to & 31].ifindex, 0);
}
