/* Everything that the fault programs keep: settings (read-only once loaded), what the C++ side sets
 * while they are attached, and what they count. Globals instead of maps wherever an address that is
 * known at load saves a look-up. Counters are shared by all CPUs and added to atomically: a
 * packet's way through the fabric stays on one CPU, so they are rarely fought over. */
#pragma once

#include "fault.h"

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <stdbool.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* From wire's table: the class in the lower four bits, the position above. */
const volatile __u8 opcode_kinds[256] = {};
/* BTH and the headers behind it, bytes. */
const volatile __u8 opcode_headers[256] = {};
const volatile __u32 crc_table[256] = {};
/* Column i of matrix k: what bit i of a CRC register becomes behind 2^k zero bytes. */
const volatile __u32 crc_zeros[FAULT_ZERO_POWERS][32] = {};
const volatile __u32 snap = 128; /* bytes kept of a frame, a multiple of FAULT_SNAP_STEP */
const volatile __u64 firing_slots = 65536;
const volatile __u64 most_transmissions = 1;
const volatile __u32 transmission_mask = 0;

__u64 start_ns = 0;
__u32 hold_ifindex = 0; /* the device that holds delayed packets, 0: none */
__u32 tracing = 0;
__s32 entered_verdict = TC_ACT_UNSPEC; /* TC_ACT_OK where no filter follows at ingress */
__u32 address_factor = 1;
struct fault_address addresses[FAULT_ADDRESSES] = {};
struct fault_port ports[FAULT_HOSTS] = {};
struct fault_rule rules[FAULT_RULES] = {};
struct fault_flow flows[FAULT_FLOWS] = {};
__u64 flow_factor = 1;
struct fault_flow_slot flow_slots[FAULT_FLOW_BUCKETS * FAULT_FLOW_BUCKET] = {};

__u64 counters[FAULT_POINTS * FAULT_HOSTS * FAULT_HOSTS * FAULT_CLASSES] = {};
struct fault_rule_state states[FAULT_RULES] = {};
struct fault_stash stashes[FAULT_RULES] = {};
__u64 stashed = 0; /* rules whose stash is in use, as bits */
__u64 trace_used = 0;
__u64 firings_used = 0;
__u64 lost_effects = 0; /* updates that a full map refused: figures would be wrong */
__u64 transmissions_used = 0;
__u64 lost_transmissions = 0;
__u64 lost_streams = 0;

/* The sequence number of the last SYN of each TCP stream, so that a stream may begin before the C++
 * side knows of it. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 4096);
  __type(key, struct fault_stream_key);
  __type(value, __u32);
} streams SEC(".maps");

/* An open hash table of our own, a power of two: nothing is allocated, nothing deleted, and the
 * kernel's hash map costs a thousand instructions for a packet that is new to it. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __uint(map_flags, BPF_F_MMAPABLE);
  __type(key, __u32);
  __type(value, __u64);
} transmissions SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 8192);
  __type(key, struct fault_effect_key);
  __type(value, __u64);
} effects SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 65536);
  __uint(map_flags, BPF_F_MMAPABLE);
  __type(key, __u32);
  __type(value, struct fault_firing);
} firings SEC(".maps");

/* The trace: nobody reads while it is written and it never wraps, so an array and the number of
 * slots in use are enough. A BPF ring buffer would lock, and cost three times as much. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(key_size, 4);
  __uint(value_size, 160);
} trace SEC(".maps");

struct stash_bytes {
  __u8 bytes[FAULT_PORT_BYTES];
};
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, FAULT_RULES);
  __type(key, __u32);
  __type(value, struct stash_bytes);
} stash_contents SEC(".maps");
