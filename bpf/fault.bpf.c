/* The fault programs. A packet of the lab meets three of them:
 *   entered   where it comes into the fabric, at the port of the host that sent it;
 *   port_out  before the queue of the port that it leaves through: here rules act;
 *   arrived   at the device of the host that it is meant for.
 * All three count it by hosts and class, so that what went missing between two of them can be told.
 * A delayed packet waits in the queue of a device of its own and comes back by `release_held`. */
#include "fault_actions.h"

static __always_inline int enter(struct __sk_buff* skb, const struct seen* seen, bool ours)
{
  __u32 place = place_of(seen), mark = 0;
  if (!ours) {
    skb->tc_index = 0;
    return NEXT;
  }
  note_place(skb, place);
  count(FAULT_SENT, place);
  if (seen->class == FAULT_TCP_SYN) learn_stream(skb, seen);
  if (ports[seen->to & (FAULT_HOSTS - 1)].rule_count && is_cold(skb, seen)) mark = FAULT_MARK_COLD;
  if (tracing) mark |= trace_packet(skb, FAULT_SENT, seen->from);
  if (mark) skb->mark = mark;
  return entered_verdict;
}

static __noinline int enter_cut(struct __sk_buff* skb)
{
  struct seen seen = {};
  bool ours = pull_and_walk(skb, &seen);
  return enter(skb, &seen, ours);
}

SEC("tc")
int entered(struct __sk_buff* skb)
{
  struct seen seen = {};
  bool ours = walk(skb, &seen);
  return __builtin_expect(seen.cut, 0) ? enter_cut(skb) : enter(skb, &seen, ours);
}

/* Rules of the port; a function of its own, since most packets of most labs don't need it. */
static __noinline int with_rules(struct __sk_buff* skb, struct fault_port* port)
{
  struct packet packet = {};
  struct seen seen = {};
  struct search search = {.packet = &packet, .port = port};
  struct passing passing = {.due = FAULT_RULES};
  int verdict = PASS;
  if (!look(skb, &seen)) return PASS;
  note_place(skb, place_of(&seen));
  study(skb, &seen, port->needs, &packet);
  bpf_loop(port->rule_count, try_rule, &search, 0);
  if (packet.fired < FAULT_RULES) verdict = act(skb, &seen, &packet);
  if (verdict != PASS || !stashed) return verdict;
  passing.hosts = place_of(&seen) >> 4;
  passing.flow = packet.flow;
  bpf_loop(FAULT_RULES, pass_stash, &passing, 0);
  return passing.due < FAULT_RULES ? release(skb, passing.due) : PASS;
}

SEC("tc")
int port_out(struct __sk_buff* skb)
{
  __u32 place = known_place(skb);
  struct fault_port* port;
  if (place == NO_PLACE) return NEXT;
  port = &ports[to_of_place(place)];
  if (port->ifindex != skb->ifindex) return NEXT; /* flooded: it isn't for the host behind */
  if (skb->mark & FAULT_MARK_ACTED) {
    __u32 mark = skb->mark;
    if (mark & FAULT_MARK_HELD)
      note_effect(mark >> FAULT_MARK_RULE_SHIFT & (FAULT_RULES - 1), FAULT_RELEASED, place);
  } else if (port->rule_count && (!(skb->mark & FAULT_MARK_COLD) || stashed)) {
    int verdict = with_rules(skb, port);
    if (verdict != PASS) return verdict;
    place = skb->tc_index - 1; /* a stashed packet may have taken its place */
  }
  count(FAULT_PASSED, place);
  note_place(skb, place);
  return PASS;
}

SEC("tc")
int arrived(struct __sk_buff* skb)
{
  __u32 place = known_place(skb);
  if (place == NO_PLACE || skb->pkt_type == PACKET_OTHERHOST) return PASS; /* or flooded */
  count(FAULT_ARRIVED, place);
  if (tracing) trace_packet(skb, FAULT_ARRIVED, to_of_place(place));
  return PASS;
}

/* At the far end of the device that holds delayed packets. */
SEC("tc")
int release_held(struct __sk_buff* skb)
{
  __u32 place = known_place(skb);
  if (!(skb->mark & FAULT_MARK_HELD) || place == NO_PLACE) return TC_ACT_SHOT;
  return bpf_redirect(ports[to_of_place(place)].ifindex, 0);
}
