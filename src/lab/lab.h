#pragma once

#include "base/json_fwd.h"
#include "lab/event.h"
#include "lab/rule.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// A Lab is what one YAML file says, checked and with all defaults filled in. A passive value: JSON
/// both ways.
namespace rdmalab::lab {

/// How one direction of a cable treats packets. rate 0: not limited.
struct LinkShape {
  std::uint64_t rate_bps = 0; ///< bits/s, counted over the Ethernet frame without preamble and FCS
  std::uint64_t delay_ns = 0; ///< one way
  std::uint32_t queue_packets = 0; ///< 0: computed so that the queue itself never drops
};
RDMALAB_JSON_DECLARE(LinkShape)

/// A host is a network namespace with one interface on the fabric.
struct Host {
  std::string name;
  LinkShape down;              ///< fabric to host: what every packet to this host passes
  std::optional<LinkShape> up; ///< host to fabric, in addition; absent: not shaped
};
RDMALAB_JSON_DECLARE(Host)

struct Topology {
  std::vector<Host> hosts;
  std::uint32_t mtu = 1500; ///< of every interface, bytes
  bool offloads = false;    ///< TSO, GSO, GRO; off, so that one skb is one packet
};
RDMALAB_JSON_DECLARE(Topology)

enum class TrafficKind { verbs, tcp, command };
RDMALAB_JSON_DECLARE(TrafficKind)

enum class VerbsOp {
  send,
  send_imm,
  write,
  write_imm,
  write_notify, ///< a WRITE, then a small SEND that says so
  read,
  fetch_add,
  compare_swap,
  register_memory ///< no message: ibv_reg_mr(3) and ibv_dereg_mr(3)
};
RDMALAB_JSON_DECLARE(VerbsOp)

/// RoCEv2's reliable or unreliable connection or unreliable datagram (rdma_rxe), or RDMA over TCP
/// (siw; RFC 5040, 5041, 5044).
enum class Transport { rc, uc, ud, iwarp };
RDMALAB_JSON_DECLARE(Transport)

/// How QPs learn of their peers: over a TCP connection of the two ends, or by the RDMA connection
/// manager.
enum class Connect { tcp, cm };
RDMALAB_JSON_DECLARE(Connect)

/// What happens when a target's receives are used up.
enum class Replenish { at_once, never, after };
RDMALAB_JSON_DECLARE(Replenish)

/// Verbs used wrongly on purpose; see lab/mistake.h for what each is.
enum class Mistake {
  none,
  wrong_rkey,
  no_remote_access,
  deregistered,
  not_registered,
  out_of_bounds,
  long_send,
  qp_no_access,
  misaligned_atomic,
  qp_reset,
  qp_init,
  qp_rtr,
  qp_error,
  no_exchange
};
RDMALAB_JSON_DECLARE(Mistake)

/// The QPs' parameters, as ibv_modify_qp(3) names them, and what is done with them.
struct Verbs {
  VerbsOp op = VerbsOp::write;
  Transport transport = Transport::rc;
  bool inline_data = false; ///< IBV_SEND_INLINE
  Connect connect = Connect::tcp;
  bool srq = false;               ///< the target's QPs share one receive queue
  std::uint32_t depth = 16;       ///< messages in flight per QP
  std::uint32_t signal_every = 0; ///< every so manieth message of a QP makes a completion; 0: as
                                  ///< the op is (signal_every_of)
  std::uint32_t qps = 1;
  std::uint32_t path_mtu = 0;       ///< 256 … 4096 bytes; 0: the port's active MTU
  std::uint32_t timeout = 14;       ///< local ACK timeout 4.096 us * 2^timeout, 0 … 31 (0: never)
  std::uint32_t retry_count = 6;    ///< 0 … 7; rxe takes 7 for "for ever"
  std::uint32_t rnr_retry = 6;      ///< 0 … 7; 7: for ever
  std::uint32_t min_rnr_timer = 12; ///< code 0 … 31, IB specification table "RNR NAK timer field"
  std::uint64_t messages = 0;       ///< per QP in all, then idle; 0: until the window ends
  std::optional<std::uint32_t> receives;    ///< posted before traffic starts; none: 2 * depth
  Replenish replenish = Replenish::at_once; ///< at_once: one for each that is used
  std::uint64_t replenish_ns = 0; ///< after: so long after the queue ran empty, all of them
  Mistake mistake = Mistake::none;
};
RDMALAB_JSON_DECLARE(Verbs)

struct Tcp {
  std::uint32_t streams = 1;
  std::string congestion = "cubic";
  bool nodelay = false;
  std::uint32_t depth = 0; ///< messages of a stream that the receiving application has not answered
                           ///< yet; 0: it answers none, and any number may be under way
  bool zerocopy = false;   ///< MSG_ZEROCOPY
};
RDMALAB_JSON_DECLARE(Tcp)

/// Any program as traffic: what is run at both hosts, without a shell. {rdma}, {ip} and {peer}
/// stand for the host's RDMA device, its address and the other's.
struct Command {
  std::string client;             ///< program and arguments, at `from`
  std::string server;             ///< at `to`, started first; "" for none
  std::vector<std::string> files; ///< of this machine; in the guest as /files/NAME
  std::string figure; ///< ECMAScript regular expression; the first group of its last match in the
                      ///< client's output is its figure, or, with unit "count", the number of its
                      ///< matches; "" for none
  std::string unit = "Mbit/s"; ///< of that figure (lab/figure_unit.h)
};
RDMALAB_JSON_DECLARE(Command)

struct Traffic {
  std::string name;
  TrafficKind kind = TrafficKind::verbs;
  std::string from; ///< the host that posts work (verbs) or connects and sends (tcp); data of a
                    ///< READ flows to it
  std::string to;
  std::uint64_t message_bytes = 65536;
  Verbs verbs;             ///< for kind verbs
  Tcp tcp;                 ///< for kind tcp
  Command command;         ///< for kind command
  std::string ends = "ok"; ///< how it is expected to end (lab/mistake.h)
};
RDMALAB_JSON_DECLARE(Traffic)

enum class FaultKind { loss, burst_loss, delay, jitter, rate, duplicate, reorder, corrupt };
RDMALAB_JSON_DECLARE(FaultKind)

/// One impairment of one direction. Which fields count depends on the kind; the others stay at
/// their defaults.
struct Fault {
  std::string name;
  FaultKind kind = FaultKind::loss;
  std::optional<std::string> from; ///< set: packets that this host sends …
  std::optional<std::string> to;   ///< … and that this host is to receive; at least one is set
  std::uint64_t rate_ppm = 0;      ///< loss, duplicate, reorder, corrupt: share of packets
  std::uint64_t correlation_ppm = 0;
  /// burst-loss, Gilbert-Elliott: P(good→bad), P(bad→good), loss in bad, loss in good.
  std::uint64_t p_ppm = 0;
  std::uint64_t r_ppm = 0;
  std::uint64_t bad_loss_ppm = 1'000'000;
  std::uint64_t good_loss_ppm = 0;
  std::uint64_t delay_ns = 0;  ///< delay: added one way; reorder: how long the others wait
  std::uint64_t jitter_ns = 0; ///< jitter: plus or minus
  bool reorder = false;        ///< jitter: packets may overtake one another; default: order is kept
  std::uint32_t gap = 1;       ///< reorder: every gap-th packet is a candidate
  std::uint64_t rate_bps = 0;  ///< rate: replaces the link's
};
RDMALAB_JSON_DECLARE(Fault)

/// What the packet trace keeps.
struct TraceOptions {
  bool on = false;
  std::uint32_t snap_bytes = 128; ///< of each frame
};
RDMALAB_JSON_DECLARE(TraceOptions)

struct Measure {
  std::uint64_t warmup_ns = 100'000'000;
  std::uint64_t duration_ns = 1'000'000'000;
  std::uint32_t repeat = 3;
  bool path = false; ///< tell CPU time apart by the stages of a message's path
};
RDMALAB_JSON_DECLARE(Measure)

/// An expectation as written; analysis/ parses and judges it with lab/expression.h.
struct Expectation {
  std::string text;
  int line = 0;
  int column = 0;
};
RDMALAB_JSON_DECLARE(Expectation)

/// A sentence of the course, held against what is measured. It can be contradicted without the lab
/// failing: that is a finding.
struct Claim {
  std::string claim;
  std::string where;   ///< in the course: "lesson 5"
  std::string holds;   ///< a comparison as in `expect`; "": nothing here can measure it
  std::string because; ///< why not, or what a contradiction comes from
  int line = 0;        ///< of `holds`
  int column = 0;
};
RDMALAB_JSON_DECLARE(Claim)

/// One fault's rate, point by point: `rdmalab sweep` runs the lab once for each.
struct Sweep {
  std::string fault;
  std::vector<std::uint64_t> rates_ppm; ///< ascending; empty: the lab is not for sweeping
};
RDMALAB_JSON_DECLARE(Sweep)

struct Lab {
  std::uint32_t version = 1;
  std::string name;
  std::string hypothesis;
  std::string description; ///< what to watch, for `explain`
  std::vector<std::string> questions;
  std::uint64_t seed = 1;
  std::uint64_t timeout_ns = 120'000'000'000; ///< guest time that one cell may take
  Topology topology;
  std::vector<Traffic> traffic;
  std::vector<std::vector<std::string>>
      groups; ///< traffics that run together; default: each on its own
  std::vector<Fault> faults;
  std::vector<Rule> rules; ///< like faults in force in the faulted condition only
  TraceOptions trace;
  std::vector<Event> events; ///< in each faulted cell; in the baseline's if there are no others
  Measure measure;
  std::vector<Expectation> expect;
  std::vector<Claim> claims;
  std::vector<std::string> conclusion; ///< said after the run, with its figures (lab/sentence.h)
  Sweep sweep;

  /// Whether there is a faulted condition.
  [[nodiscard]] bool faultless() const { return faults.empty() && rules.empty(); }
};
RDMALAB_JSON_DECLARE(Lab)

/// Null for a name that the lab doesn't have.
const Traffic* find_traffic(const Lab& lab, const std::string& name);
/// Whether the path of a group's messages is to be counted: where the lab asks for it, of one
/// traffic by itself that is no program. Whose message it was can't be told elsewhere.
bool has_path(const Lab& lab, const std::vector<std::string>& group);
const Host* find_host(const Lab& lab, const std::string& name);

/// Verbs over siw.
bool over_iwarp(const Traffic& traffic);
/// Its packets are TCP segments: kind tcp, and verbs over iWARP.
bool rides_on_tcp(const Traffic& traffic);
/// What was sent arrives, or the QP says that it didn't.
bool reliable(const Verbs& verbs);
/// Messages of a QP that one completion stands for.
std::uint32_t signal_every_of(const Verbs& verbs);

/// The host that sends payload: `from`, but for a READ, whose responses carry it, `to`.
const std::string& data_source(const Traffic& traffic);
/// The host that takes it in.
const std::string& data_sink(const Traffic& traffic);

} // namespace rdmalab::lab
