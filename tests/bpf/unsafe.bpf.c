/* Reads a packet without looking where it ends, which no verifier lets pass. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("tc")
int reads_too_far(struct __sk_buff* skb)
{
  const __u8* data = (const __u8*)(long)skb->data;
  return data[1000];
}
