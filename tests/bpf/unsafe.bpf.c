/* Reads a packet without looking where it ends, which no verifier lets pass. */
#include <linux/bpf.h>

#define SEC(name) __attribute__((section(name), used))

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("tc")
int reads_too_far(struct __sk_buff* skb)
{
  const __u8* data = (const __u8*)(long)skb->data;
  return data[1000];
}
