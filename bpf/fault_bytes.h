/* Changes of a packet in place: corrupt and forge, ECN, DSCP and TTL. Zero is success. */
#pragma once

#include "fault_match.h"

struct zero_step {
  __u32 crc;
  __u32 power;
};

/* One step of a product with matrix `power`: for bpf_loop(), so that the verifier reads it once. */
static long advance_power(__u32 i, struct zero_step* step)
{
  __u32 power = step->power & 15, crc = step->crc, moved = 0;
  if (power >= FAULT_ZERO_POWERS) return 1;
  for (__u32 bit = 0; bit < 32; bit++) moved ^= crc_zeros[power][bit] & -(crc >> bit & 1);
  step->crc = moved;
  return 0;
}

/* What an ICRC changes by when `pattern` is XORed onto bytes with `behind` covered bytes behind
 * them: a CRC is linear (src/wire/icrc.h, icrc_change). */
static __always_inline __u32 icrc_change(const struct fault_rule* rule, __u32 behind)
{
  struct zero_step step = {};
  for (__u32 i = 0; i < FAULT_PATTERN; i++)
    if (i < rule->pattern_length)
      step.crc = crc_table[(step.crc ^ rule->pattern[i]) & 0xff] ^ step.crc >> 8;
  for (__u32 power = 0; power < FAULT_ZERO_POWERS; power++) {
    step.power = power;
    if (behind >> power & 1) bpf_loop(1, advance_power, &step, 0);
  }
  return step.crc;
}

/* Makes the Internet checksum at `at` right for bytes that changed from `old` to `now` at an offset
 * from the beginning of what it covers. One that the host left to a device stays untouched: the
 * kernel takes it for right. */
static __always_inline long fix_checksum(struct __sk_buff* skb, __u32 at, __u8* old, __u8* now,
                                         __u32 offset, __u64 flags)
{
  __s64 difference = bpf_csum_diff((__be32*)old, FAULT_PATTERN, (__be32*)now, FAULT_PATTERN, 0);
  __u32 folded = difference;
  if (offset & 1) { /* half a word off: RFC 1071, section 2 (B) */
    folded = (folded & 0xffff) + (folded >> 16);
    folded = (folded & 0xffff) + (folded >> 16);
    folded = (folded & 0xff) << 8 | (folded >> 8 & 0xff);
  }
  return bpf_l4_csum_replace(skb, at, 0, folded, flags);
}

/* Not static, so that the verifier reads it once and by itself. */
__noinline int change_payload(struct __sk_buff* skb, const struct seen* seen,
                              const struct packet* packet)
{
  __u8 old[FAULT_PATTERN] __attribute__((aligned(8))) = {};
  __u8 now[FAULT_PATTERN] __attribute__((aligned(8)));
  const struct fault_rule* rule;
  __u32 at, length, end, behind, icrc, into;
  if (!seen || !packet) return -1;
  rule = &rules[packet->fired & (FAULT_RULES - 1)];
  at = packet->payload_offset + rule->pattern_offset;
  into = at - seen->transport;
  length = rule->pattern_length;
  if (length < 1 || length > FAULT_PATTERN) return -1;
  if (bpf_skb_load_bytes(skb, at, old, length)) return -1;
  for (__u32 i = 0; i < FAULT_PATTERN; i++)
    now[i] = i < length ? old[i] ^ rule->pattern[i] : old[i];
  if (bpf_skb_store_bytes(skb, at, now, length, 0)) return -1;
  if (seen->class >= FAULT_TCP_SYN)
    return rule->action == FAULT_FORGE ? fix_checksum(skb, seen->transport + 16, old, now, into, 0)
                                       : 0;
  if (rule->action == FAULT_FORGE) {
    end = seen->transport + seen->network_bytes - ICRC_BYTES;
    behind = end - at - length;
    if (bpf_skb_load_bytes(skb, end, &icrc, sizeof(icrc))) return -1;
    __u8 before[FAULT_PATTERN] __attribute__((aligned(8))) = {};
    __u8 after[FAULT_PATTERN] __attribute__((aligned(8))) = {};
    __builtin_memcpy(before, &icrc, sizeof(icrc));
    icrc ^= icrc_change(rule, behind);
    __builtin_memcpy(after, &icrc, sizeof(icrc));
    if (bpf_skb_store_bytes(skb, end, &icrc, sizeof(icrc), 0)) return -1;
    if (fix_checksum(skb, seen->transport + 6, before, after, end - seen->transport,
                     BPF_F_MARK_MANGLED_0))
      return -1;
  }
  /* UDP's checksum, unless it is 0 as rxe sends it: only the ICRC is to tell. */
  return fix_checksum(skb, seen->transport + 6, old, now, into, BPF_F_MARK_MANGLED_0);
}

/* Replaces bits of the IPv4 TOS or IPv6 traffic class. */
static __always_inline long change_tos(struct __sk_buff* skb, const struct seen* seen, __u8 keep,
                                       __u8 set)
{
  __u16 old, now;
  if (bpf_skb_load_bytes(skb, seen->network, &old, sizeof(old))) return -1;
  now = bpf_ntohs(old);
  if (seen->v6)
    now = (now & 0xf00f) | ((((now >> 4) & keep) | set) & 0xff) << 4;
  else
    now = (now & 0xff00) | (((now & keep) | set) & 0xff);
  now = bpf_htons(now);
  if (!seen->v6 && bpf_l3_csum_replace(skb, seen->network + 10, old, now, sizeof(now))) return -1;
  return bpf_skb_store_bytes(skb, seen->network, &now, sizeof(now), 0);
}

static __always_inline long change_ttl(struct __sk_buff* skb, const struct seen* seen, __u8 ttl)
{
  __u32 at = seen->network + 8; /* TTL and protocol make a word of IPv4's checksum */
  __u16 old, now;
  if (seen->v6) return bpf_skb_store_bytes(skb, seen->network + 7, &ttl, sizeof(ttl), 0);
  if (bpf_skb_load_bytes(skb, at, &old, sizeof(old))) return -1;
  now = bpf_htons((bpf_ntohs(old) & 0xff) | ttl << 8);
  if (bpf_l3_csum_replace(skb, seen->network + 10, old, now, sizeof(now))) return -1;
  return bpf_skb_store_bytes(skb, at, &now, sizeof(now), 0);
}

static __always_inline long rewrite(struct __sk_buff* skb, const struct seen* seen,
                                    const struct fault_rule* rule)
{
  if (rule->set_dscp && change_tos(skb, seen, 3, (rule->set_dscp - 1) << 2)) return -1;
  if (rule->set_ttl && change_ttl(skb, seen, rule->set_ttl)) return -1;
  return 0;
}
