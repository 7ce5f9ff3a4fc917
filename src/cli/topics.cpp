#include "cli/topics.h"

#include "cli/help.h"

#include <array>

namespace rdmalab::cli {
namespace {

constexpr std::array every_topic{
    Topic{
        "faults", "what can be done to packets, and where",
        R"(A fault hits packets of one direction. `where: {from: A, to: B}` names it: packets that A
sends and B is to receive. Faults live in the fabric between the hosts, as netem parameters at
B's port, never at a host's own egress: a packet that is dropped there comes back to Soft-RoCE as
a local error, which is something else than a lost packet.

Kinds: loss, burst-loss, delay, jitter, rate, duplicate, reorder, corrupt. Faults of different
kinds combine; two of one kind on the same packets are an error, and so are loss and burst-loss
together. Each kind has a page of its own here.

netem decides packet by packet. So segmentation offloads are off on all links of a lab, or one
"packet" of TCP would be up to 64 KiB. Its dice have a seed: traffics of the same repeat meet the
same dice, repeats meet different ones.)"},
    Topic{
        "loss", "each packet is lost with the same probability",
        R"(`kind: loss, rate: 1%` drops each packet with that probability, independently of the others.
With `correlation: 25%` each decision leans on the one before by that share.

RoCE's reliable connection answers with go-back-N: everything from the lost packet on is sent
again. TCP sends again just what is missing. See: rdmalab explain go-back-n.)"},
    Topic{
        "burst-loss", "losses come in bursts (Gilbert-Elliott)",
        R"(A channel with a good and a bad state. `p` is the probability, per packet, to go from good to
bad, `r` to go back; `bad_loss` and `good_loss` are the loss probabilities within the states.
In the long run a share of p / (p + r) of the packets meets the bad state; a burst lasts 1 / r
packets on average.

The same mean loss in bursts often costs go-back-N less than lone losses do: several packets that
are lost within one window are recovered by one replay.)"},
    Topic{
        "delay", "packets take longer",
        R"(`kind: delay, delay: 1ms` adds that time in one direction. A longer round trip lowers the ceiling
window / round-trip time: Soft-RoCE has at most 128 packets of a QP on the way, so at MTU 1024 and
10 ms it can't pass 105 Mb/s per QP, whatever the link's rate.)"},
    Topic{
        "jitter", "delays vary",
        R"(`kind: jitter, jitter: 100us` draws each packet's delay evenly from plus or minus that time
around the link's delay, which must be at least as long.

By default packets keep their order, so one waits for the packet before it. `reorder: true` lets
them overtake one another; netem can do that only on a link without a rate. RoCE takes an
overtaking packet for a loss.)"},
    Topic{
        "rate", "the link gets slower",
        R"(`kind: rate, rate: 100mbit` replaces the link's rate. The queue is long enough to drop nothing, so
senders see a longer delay, not loss. Rates count Ethernet frames without preamble and checksum.)"},
    Topic{
        "duplicate", "packets arrive twice",
        R"(`kind: duplicate, rate: 1%` sends a copy right behind the original. A RoCE responder knows the
packet number, drops the copy's payload and acknowledges again (counter duplicate_request).)"},
    Topic{
        "reorder", "some packets overtake",
        R"(`kind: reorder, rate: 25%, delay: 10us, gap: 5` sends a share of every 5th packet at once, while
the others wait for the delay. A RoCE responder has no place for a packet that comes early: it
answers with a NAK as for a loss, and the sender goes back. TCP keeps it and says so by SACK.)"},
    Topic{
        "corrupt", "a bit flips",
        R"(`kind: corrupt, rate: 0.1%` flips one random bit of a packet. Where it hits RoCE, the packet's
checksum (ICRC) no longer holds and the receiver drops it silently; Soft-RoCE has no counter for
that. Where it hits the addresses, the packet gets lost on the way. The position doesn't follow
netem's seed.)"},
    Topic{"transports", "InfiniBand, RoCE and iWARP: the three roads of RDMA",
          R"(All three carry the same verbs: queue pairs, memory regions, SEND, WRITE, READ.

InfiniBand has its own links and switches. Credits between neighbours keep a sender from sending
what the next hop can't store, so packets are not lost to congestion.

RoCEv2 puts InfiniBand's transport into UDP port 4791 over IP and Ethernet. Ethernet drops packets
when queues overflow, and the transport underneath was made for a network that doesn't; hence PFC
(pause frames) and ECN with DCQCN to keep the fabric lossless or nearly so. Soft-RoCE (rdma_rxe)
is RoCEv2 in the Linux kernel's software, on any network card: the same packets, not the speed,
and with copies and system calls that hardware would not need.

iWARP puts RDMA on top of TCP, which recovers from loss by itself; so it needs no lossless fabric,
and an adapter has to carry a whole TCP. A WRITE is complete there when TCP has taken it over, not
when it has arrived; a READ behind it tells. Soft-iWARP (siw) is iWARP in the Linux kernel's
software; `transport: iwarp` in a lab takes it, and `labs/three-roads.yaml` loses 1 % of both's
packets.)"},
    Topic{
        "go-back-n", "how a RoCE connection recovers from a lost packet",
        R"(Packets of a reliable connection are numbered (PSN). The receiver takes them in order only. At a
gap it sends one NAK with the number that it waits for, and drops all that follows until that one
comes. The sender goes back to it and sends everything again: up to a window (128 packets in
Soft-RoCE) for a single lost packet.

If the packet that was sent again is lost too, no second NAK comes: the receiver has said its
word. Nor does rxe listen to another NAK while it is sending again, until an ACK moves it on. Only
the sender's ACK time-out, 4.096 us * 2^timeout, gets things going; at the usual timeout 14 that's
67 ms, in which 1 Gb/s would have carried 8 MB.

So of the losses between two acknowledgements, s packets apart, the first costs the packets in
flight (W), and every other one the time-out (RTO). With L packets a second and p lost of them:
retention = s / (s + t*W + (s*p/(1-p) - t)*RTO*L), t = 1 - (1-p)^s. Reports print it beside the
measured figure.

TCP with SACK sends again only the missing segments, detects a lost retransmission by later ACKs,
and slows down by congestion control rather than by replay.)"},
    Topic{
        "completions", "whom a completion wakes, and how to have fewer of them",
        R"(A queue pair tells its program that work is done by a completion. A program that sleeps until one
comes is woken for each: an interrupt, a switch of tasks, a system call or three. With
`signal_every: 16` fifteen of sixteen messages are posted unsignalled; the sixteenth's completion
stands for all of them, since a queue pair completes in order.

That saves wake-ups where messages come one by one, as over a link that is slower than the host. A
host that is busy anyway finds many completions each time it looks, and gains nothing. The price:
a message is known to be done only when its group is, so its latency, where the initiator measures
it (WRITE, READ, atomics), counts until then; and no more groups are in flight than fit in `depth`.

TCP's relative is Nagle's algorithm: small messages wait for the answer to those before them, and
then share a packet. `nodelay: on` (TCP_NODELAY) sends each at once.)"},
    Topic{
        "retention", "the figure that a lab is about",
        R"(Retention = goodput under faults / goodput without them, of the same traffic in the same lab.
Goodput counts payload that was delivered to the application within the measuring window, and
nothing twice. Both are means over the repeats; the interval tells how far repeats lie apart.

It compares fairly only if the link, not the CPU, limits the baseline: reports say what did. A run
that can't prove that its traffic crossed the fabric and that its faults were applied as asked is
`invalid` and gives no figure.)"},
    Topic{"clocks", "real time, or instructions counted",
          R"(real: this kernel, or a guest under KVM. CPU figures are CPU time.

virtual: a guest under QEMU's TCG that counts instructions; one is one nanosecond. Idle time is
skipped, random numbers repeat. The same lab gives the same record, bit for bit, on a laptop and
on a busy CI machine. CPU figures are instructions; the guest is one core of 10^9 a second, so a
link must be slow enough for it.

auto (default): real where KVM or this kernel serves, otherwise virtual. Every record names its
clock, and `compare` refuses to mix them.)"},
    Topic{
        "engines", "where a lab is executed",
        R"(host: in this kernel, if a probe shows that it can: root, Soft-RoCE that works in network
namespaces, netem.
vm: in a guest whose kernel can. It needs no privilege, device or network.
auto (default): host if the probe passes, otherwise vm. `rdmalab doctor` says what is missing.)"},
    Topic{"exit-codes", "what the program's exit status means", exit_code_table},
};

} // namespace

std::span<const Topic> topics()
{
  return every_topic;
}

} // namespace rdmalab::cli
