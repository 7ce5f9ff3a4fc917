/* Packet-level faults: what the programs (fault.bpf.c) and the C++ side (src/fault) share.
 * Constants, the layout of rules, flows, records and counters, and the one function that both must
 * compute alike: which packets a probability hits. */
#pragma once

#include <linux/types.h>

enum {
  FAULT_HOSTS = 32,   /* and a host's number has five bits, so an index is checked by a mask */
  FAULT_NO_HOST = 32, /* the bit above them */
  FAULT_RULES = 64,
  FAULT_FLOWS = 256,
  FAULT_FLOW_BUCKETS = 512, /* of the flow table, by the upper nine bits of a product */
  FAULT_FLOW_BUCKET = 4,    /* slots of each */
  FAULT_LIST = 16,
  FAULT_PATTERN = 8,       /* bytes that a corruption can change */
  FAULT_ADDRESSES = 256,   /* slots of the address table */
  FAULT_PORT_BYTES = 9216, /* the longest frame that can be held back to reorder it */
  FAULT_SNAP_STEP = 64,    /* what is kept of a frame is a multiple of it */
  FAULT_ZERO_POWERS = 14,  /* a CRC moves on over up to 2^14 - 1 zero bytes */
  FAULT_ANY = 0xff,        /* any host */
  FAULT_NO_FLOW = 0xffff,  /* of a packet: unknown; of a rule: any */
  FAULT_NO_OPCODE = 0xffff,
};

/* A packet's class, by which the ledger counts. The first ten are wire::PacketClass. A rule's
 * `kinds` are bits of these; a TCP segment can be of several kinds at once. */
enum fault_class {
  FAULT_DATA = 0,
  FAULT_ACK = 1,
  FAULT_NAK = 2,
  FAULT_RNR = 3,
  FAULT_READ_REQUEST = 4,
  FAULT_READ_RESPONSE = 5,
  FAULT_ATOMIC = 6,
  FAULT_ATOMIC_ACK = 7,
  FAULT_CNP = 8,
  FAULT_ROCE_OTHER = 9,
  FAULT_TCP_SYN = 10,
  FAULT_TCP_DATA = 11,
  FAULT_TCP_ACK = 12, /* without payload, SYN, FIN and RST */
  FAULT_TCP_FIN = 13, /* or RST */
  FAULT_OTHER = 14,   /* any other IP packet between hosts of the lab */
  FAULT_CLASSES = 16,
};

/* wire::FaultAction. */
enum fault_action {
  FAULT_DROP = 1,
  FAULT_DELAY = 2,
  FAULT_DUPLICATE = 3,
  FAULT_REORDER = 4,
  FAULT_CORRUPT = 5,
  FAULT_FORGE = 6,
  FAULT_MARK = 7,
  FAULT_REWRITE = 8,
};

/* What a rule asks beyond kinds, flow and hosts. */
enum fault_condition {
  FAULT_IF_RANGE = 1,        /* relative PSN or sequence number within from..to */
  FAULT_IF_LIST = 2,         /* relative PSN or sequence number one of the list */
  FAULT_IF_TRANSMISSION = 4, /* transmission number within from..to */
  FAULT_IF_WINDOW = 8,
  FAULT_IF_EVERY = 16,
  FAULT_IF_CHANCE = 32, /* decided by flow, sequence and transmission number */
  FAULT_IF_SHARED = 64, /* with FAULT_IF_CHANCE: by the number of the data packet instead */
  FAULT_IF_BURST = 128, /* Gilbert-Elliott */
};

/* What the rules of a port need to know of each packet. */
enum fault_need {
  FAULT_NEED_TRANSMISSION = 1,
  FAULT_NEED_DATA_NUMBER = 2,
  FAULT_NEED_TIME = 4,
};

/* skb->mark within the fabric's namespace; crossing to another one clears it, so no host can set it
 * from outside. */
enum fault_mark {
  FAULT_MARK_TRACE = 0xffffff,  /* the packet's trace record plus one; 0: none */
  FAULT_MARK_COLD = 0x1000000,  /* while no rule acted: none can */
  FAULT_MARK_RULE_SHIFT = 24,   /* with FAULT_MARK_HELD */
  FAULT_MARK_HELD = 0x40000000, /* comes out of the hold device */
};
#define FAULT_MARK_ACTED 0x80000000U /* a rule acted on it: not to be matched again */

struct fault_rule {
  __u64 seed;        /* the lab's, mixed with the rule's or its group's */
  __u64 window_from; /* ns after the start */
  __u64 window_to;   /* not included */
  __u64 limit;       /* firings at most */
  __u64 delay_ns;
  __u64 chance;      /* of 2^32 */
  __u64 good_to_bad; /* of 2^32 */
  __u64 bad_to_good; /* of 2^32 */
  __u32 kinds;       /* bits of fault_class */
  __u32 range_from;
  __u32 range_to; /* included */
  __u32 transmission_from;
  __u32 transmission_to; /* included */
  __u32 every;
  __u32 every_offset;
  __u32 pattern_offset; /* into the payload */
  __u32 passing;        /* reorder: how many pass first */
  __u32 list[FAULT_LIST];
  __u16 conditions; /* bits of fault_condition */
  __u16 flow;       /* FAULT_NO_FLOW: any */
  __u16 opcode;     /* FAULT_NO_OPCODE: any */
  __u8 from;        /* host, FAULT_ANY: any */
  __u8 to;
  __u8 positions; /* bits 1 << wire::Position; 0: any */
  __u8 list_length;
  __u8 action;
  __u8 pattern_length;
  __u8 pattern[FAULT_PATTERN]; /* XORed */
  __u8 set_dscp;               /* the value plus one; 0: leave */
  __u8 set_ttl;                /* 0: leave */
  __u8 padding[6];
};

struct fault_rule_state {
  __u64 matched; /* everything but every, chance, burst and limit */
  __u64 fired;
  __u64 failed;  /* fired, but the kernel refused the action */
  __u64 busy;    /* would have fired, but the rule still holds an earlier packet */
  __u64 unknown; /* asked for a number that a packet of an unknown flow doesn't have */
  __u32 bad;     /* burst: in the bad state */
  __u32 padding;
};

/* One direction of a QP or a TCP stream. */
struct fault_flow {
  __u64 identity;     /* goes into chance */
  __u64 ordinal;      /* goes into shared chance */
  __u64 data_packets; /* that passed by, retransmissions included */
  __u32 kinds;        /* of its packets that a rule of its port could act on */
  __u32 from;         /* and their relative PSNs: no others */
  __u32 to;           /* included */
  __u32 padding;
};

/* A slot of the flow table. Multiplying the key gives its bucket; the C++ side chose the factor so
 * that none overflows. */
struct fault_flow_slot {
  __u64 key;
  __u32 first; /* PSN or sequence number */
  __u16 flow;  /* plus one; 0: the slot is free */
  __u16 begun; /* `first` is known */
};

/* `identifier`: the destination QPN or both ports, as the packet's bytes lie in memory. */
static inline __u64 fault_flow_key(__u32 from, __u32 to, __u32 tcp, __u32 identifier)
{
  __u64 high = from << 6 | to << 1 | tcp;
  return high << 32 | identifier;
}
static inline __u64 fault_flow_bucket(__u64 key, __u64 factor)
{
  return key * factor >> 55;
}

struct fault_stream_key {
  __u16 source_port; /* network order, as in the packet */
  __u16 destination_port;
  __u8 from;
  __u8 to;
  __u8 padding[2];
};

/* A slot of the table of transmissions is one number: flow plus one (9 bits), class (4), relative
 * sequence number (32), and how often that was seen (19); 0: free. */
enum { FAULT_TRIES_BITS = 19, FAULT_TRIES_PROBES = 64 };
static inline __u64 fault_tries_key(__u32 flow, __u32 kind, __u32 sequence)
{
  __u64 high = (flow + 1) << 4 | kind, low = sequence;
  return (high << 32 | low) << FAULT_TRIES_BITS;
}

/* How a rule changed the sum of packets. */
enum fault_effect {
  FAULT_DROPPED = 0,
  FAULT_DUPLICATED = 1,
  FAULT_HELD = 2,
  FAULT_RELEASED = 3,
};

struct fault_effect_key {
  __u8 rule;
  __u8 effect;
  __u8 from;
  __u8 to;
  __u8 kind;
  __u8 padding[3];
};

/* One port of the fabric, by the host behind it. */
struct fault_port {
  __u32 ifindex;
  __u8 rule_count;
  __u8 needs;
  __u16 kinds;             /* that the rules without a flow could act on */
  __u8 rules[FAULT_RULES]; /* the rules that can match here, in the lab's order */
};

/* A slot of the address table: multiplying by a number that was chosen so hashes without collision.
 */
struct fault_address {
  __u32 key;  /* IPv4 address, or the XOR of an IPv6 address' four words */
  __u32 host; /* FAULT_NO_HOST: none */
};

/* A packet that is held back until others have passed. */
struct fault_stash {
  __u32 remaining;
  __u32 length;
  __u32 mark;
  __u16 flow;
  __u16 place; /* of its counters */
};

struct fault_firing {
  __u64 time;         /* CLOCK_MONOTONIC ns */
  __u32 sequence;     /* PSN or TCP sequence number, as it stands in the packet */
  __u32 relative;     /* to the flow's first; 0 for an unknown flow */
  __u32 transmission; /* 0: not counted */
  __u32 wire_length;
  __u16 flow;
  __u8 rule;
  __u8 kind;
  __u8 opcode; /* of RoCE */
  __u8 from;
  __u8 to;
  __u8 padding;
};

enum fault_point {
  FAULT_SENT = 0,
  FAULT_PASSED = 1,
  FAULT_ARRIVED = 2,
  FAULT_POINTS = 3,
};

/* The bytes of the frame follow. */
struct fault_record {
  __u64 time;
  __u32 wire_length; /* without a tag that the kernel keeps beside the frame */
  __u16 captured;
  __u16 vlan_tci;
  __u8 has_vlan; /* the tag stands in vlan_tci, not in the bytes */
  __u8 host;
  __u8 point;
  __u8 action;
  __u8 rule; /* plus one */
  __u8 padding[11];
};

#ifdef __cplusplus
#define FAULT_ASSERT static_assert
#else
#define FAULT_ASSERT _Static_assert
#endif
FAULT_ASSERT(sizeof(struct fault_rule) == 64 + 36 + 64 + 28, "shared with the BPF side");
FAULT_ASSERT(sizeof(struct fault_rule_state) == 48, "shared with the BPF side");
FAULT_ASSERT(sizeof(struct fault_flow) == 40, "shared with the BPF side");
FAULT_ASSERT(sizeof(struct fault_flow_slot) == 16, "shared with the BPF side");
FAULT_ASSERT(sizeof(struct fault_stream_key) == 8, "a key without holes");
FAULT_ASSERT(sizeof(struct fault_effect_key) == 8, "a key without holes");
FAULT_ASSERT(sizeof(struct fault_port) == 72, "shared with the BPF side");
FAULT_ASSERT(sizeof(struct fault_stash) == 16, "shared with the BPF side");
FAULT_ASSERT(sizeof(struct fault_firing) == 32, "shared with the BPF side");
FAULT_ASSERT(sizeof(struct fault_record) == 32, "the bytes behind it are aligned");

/* SplitMix64's finaliser, as in src/base/random.h. */
static inline __u64 fault_mix(__u64 x)
{
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/* A number below 2^32 that is below `chance` for the packets that are hit. `stream`: the flow's
 * identity or ordinal, or 0; `number`: what distinguishes its packets. */
static inline __u64 fault_draw(__u64 seed, __u64 stream, __u64 number)
{
  return fault_mix(fault_mix(seed ^ fault_mix(stream)) ^ number) >> 32;
}

/* What distinguishes a packet of a flow: where it stands in the flow, and which try it is. */
static inline __u64 fault_number(__u32 sequence, __u32 transmission)
{
  __u64 high = sequence;
  return high << 32 | transmission;
}
