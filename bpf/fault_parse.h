/* What a packet is: between which hosts, of which class. One bounded walk over its headers, where
 * it comes into the fabric; the next programs find the result in skb->tc_index, which a bridge, a
 * queue, a clone and the way into another namespace all keep (and which only a tc program sets). */
#pragma once

#include "fault_maps.h"

enum {
  ETH_IPV4 = 0x0800,
  ETH_IPV6 = 0x86dd,
  ETH_VLAN = 0x8100,
  ETH_BYTES = 14,
  VLAN_BYTES = 4,
  IPV4_BYTES = 20,
  IPV6_BYTES = 40,
  UDP_BYTES = 8,
  BTH_BYTES = 12,
  ICRC_BYTES = 4,
  TRANSPORT_BYTES = 20, /* TCP without options; UDP and BTH, too */
  IP_TCP = 6,
  IP_UDP = 17,
  ROCE_PORT = 4791,
  TCP_FIN = 1,
  TCP_SYN = 2,
  TCP_RST = 4,
  PACKET_OTHERHOST = 3, /* skb->pkt_type */
};

struct seen {
  __u32 from;
  __u32 to;
  __u32 class;
  __u32 kinds;         /* bits of fault_class */
  __u32 network;       /* offset of the IP header */
  __u32 transport;     /* offset of the UDP or TCP header */
  __u32 network_bytes; /* the transport header and what is behind it, as the IP header says */
  __u8 v6;
  __u8 opcode;
  __u8 position;
  __u8 cut; /* the headers go on where no direct access reaches */
};

static __always_inline __u32 host_of(__u32 key)
{
  struct fault_address* slot = &addresses[(__u32)(key * address_factor) >> 24];
  return slot->key == key ? slot->host : FAULT_NO_HOST;
}

static __always_inline __u32 load16(const __u8* at)
{
  return bpf_ntohs(*(const __u16*)at);
}

/* An acknowledgement is what its AETH's syndrome says (IB specification vol. 1, 9.7.5.1.1). */
static __always_inline __u32 class_of_syndrome(__u8 syndrome)
{
  switch (syndrome >> 5 & 3) {
  case 0:
    return FAULT_ACK;
  case 1:
    return FAULT_RNR;
  case 3:
    return FAULT_NAK;
  default:
    return FAULT_ROCE_OTHER;
  }
}

static __always_inline void see_tcp(const __u8* tcp, struct seen* seen)
{
  __u8 flags = tcp[13];
  __u32 header = (__u32)(tcp[12] >> 4) * 4;
  __u32 class = FAULT_TCP_ACK, kinds = 0;
  if (flags & (TCP_FIN | TCP_RST)) kinds |= 1U << (class = FAULT_TCP_FIN);
  if (seen->network_bytes > header) kinds |= 1U << (class = FAULT_TCP_DATA);
  if (flags & TCP_SYN) kinds |= 1U << (class = FAULT_TCP_SYN);
  seen->class = class;
  seen->kinds = kinds ? kinds : 1U << FAULT_TCP_ACK;
}

/* False: no IP packet between two hosts of the lab. */
static __always_inline bool walk(struct __sk_buff* skb, struct seen* seen)
{
  const __u8* data = (const __u8*)(long)skb->data;
  const __u8* end = (const __u8*)(long)skb->data_end;
  const __u8 *ip, *transport;
  __u16 type;
  __u8 protocol;

  __u32 from, to;

  seen->cut = 1;
  if (data + ETH_BYTES + VLAN_BYTES > end) return false;
  type = *(const __u16*)(data + 12);
  seen->network = ETH_BYTES;
  if (type == bpf_htons(ETH_VLAN)) {
    type = *(const __u16*)(data + 16);
    seen->network = ETH_BYTES + VLAN_BYTES;
  }
  ip = data + seen->network;
  if (type == bpf_htons(ETH_IPV4)) {
    __u32 header;
    if (ip + IPV4_BYTES > end) return false;
    from = *(const __u32*)(ip + 12);
    to = *(const __u32*)(ip + 16);
    protocol = ip[9];
    if (*(const __u16*)(ip + 6) & bpf_htons(0x3fff)) protocol = 0; /* a fragment */
    barrier_var(protocol); /* or clang reads it behind the branches, by a pointer on the stack */
    header = (ip[0] & 15U) * 4;
    seen->v6 = 0;
    seen->network_bytes = load16(ip + 2) - header;
    seen->transport = seen->network + header;
  } else if (type == bpf_htons(ETH_IPV6)) {
    const __u32* words = (const __u32*)(ip + 8);
    if (ip + IPV6_BYTES > end) return false;
    from = words[0] ^ words[1] ^ words[2] ^ words[3];
    to = words[4] ^ words[5] ^ words[6] ^ words[7];
    protocol = ip[6];
    barrier_var(protocol);
    seen->v6 = 1;
    seen->network_bytes = load16(ip + 4);
    seen->transport = seen->network + IPV6_BYTES;
  } else {
    seen->cut = 0;
    return false;
  }
  seen->from = host_of(from);
  seen->to = host_of(to);
  seen->class = FAULT_OTHER;
  seen->kinds = 1U << FAULT_OTHER;
  seen->opcode = 0;
  seen->position = 0;
  if ((seen->from | seen->to) & FAULT_NO_HOST) {
    seen->cut = 0;
    return false;
  }
  transport = data + seen->transport;
  if (transport + TRANSPORT_BYTES > end) return true;
  if (protocol == IP_UDP) {
    if (*(const __u16*)(transport + 2) == bpf_htons(ROCE_PORT)) {
      __u32 kind;
      seen->opcode = transport[UDP_BYTES];
      kind = opcode_kinds[seen->opcode];
      seen->class = kind & 15;
      seen->position = kind >> 4;
      if (seen->class == FAULT_ACK) {
        if (transport + TRANSPORT_BYTES + 1 > end) return true;
        seen->class = class_of_syndrome(transport[TRANSPORT_BYTES]);
      }
      seen->kinds = 1U << (seen->class & 15);
    }
  } else if (protocol == IP_TCP) {
    see_tcp(transport, seen);
  }
  seen->cut = 0;
  return true;
}

/* The way of a packet whose headers go on in its fragments. What is cut afterwards is short on the
 * wire, too: its class is "other". */
static __always_inline bool pull_and_walk(struct __sk_buff* skb, struct seen* seen)
{
  __u32 wanted = ETH_BYTES + VLAN_BYTES + 60 + TRANSPORT_BYTES + 4;
  bpf_skb_pull_data(skb, skb->len < wanted ? skb->len : wanted);
  return walk(skb, seen);
}

static __always_inline bool look(struct __sk_buff* skb, struct seen* seen)
{
  bool ours = walk(skb, seen);
  return seen->cut ? pull_and_walk(skb, seen) : ours;
}

/* Where the packet's counters are; 14 bits. */
static __always_inline __u32 place_of(const struct seen* seen)
{
  return (seen->from & 31) << 9 | (seen->to & 31) << 4 | (seen->class & 15);
}

static __always_inline __u32 to_of_place(__u32 place)
{
  return place >> 4 & 31;
}

/* The place that `entered` left with the packet, or what a walk finds now; NO_PLACE: not ours. */
enum { NO_PLACE = 0xffff };

/* A function of its own, so that others have fewer registers to save. */
static __noinline __u32 found_place(struct __sk_buff* skb)
{
  struct seen seen;
  return look(skb, &seen) ? place_of(&seen) : NO_PLACE;
}

static __always_inline __u32 known_place(struct __sk_buff* skb)
{
  __u32 noted = skb->tc_index;
  return __builtin_expect(noted != 0, 1) ? noted - 1 : found_place(skb);
}

/* A verdict of PASS makes the kernel copy tc_classid to tc_index. */
static __always_inline void note_place(struct __sk_buff* skb, __u32 place)
{
  skb->tc_index = place + 1;
  skb->tc_classid = place + 1;
}

static __always_inline void count(__u32 point, __u32 place)
{
  __u32 at = point * (FAULT_HOSTS * FAULT_HOSTS * FAULT_CLASSES) + (place & 0x3fff);
  __sync_fetch_and_add(&counters[at], 1);
}
