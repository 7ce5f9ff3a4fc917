#include "net/qdisc.h"

#include "net/link.h"
#include "net/netem_message.h"

#include <cerrno>

#include <arpa/inet.h>
#include <linux/gen_stats.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/tc_act/tc_mirred.h>

namespace rdmalab::net {

namespace {

/// struct tc_netem_xstats of Linux 7.3's linux/pkt_sched.h, TCA_STATS_APP of a netem.
struct NetemXstats {
  std::uint64_t delayed;
  std::uint64_t dropped;
  std::uint64_t corrupted;
  std::uint64_t duplicated;
  std::uint64_t reordered;
  std::uint64_t ecn_marked;
  std::uint64_t allocation_errors;
};
static_assert(sizeof(NetemXstats) == 7 * sizeof(std::uint64_t));

/// The bytes and packets of struct gnet_stats_basic without its trailing padding.
struct BasicStats {
  std::uint64_t bytes;
  std::uint32_t packets;
} __attribute__((packed));

tcmsg header_for(std::uint32_t index, std::uint32_t parent, std::uint32_t handle)
{
  tcmsg header{};
  header.tcm_family = AF_UNSPEC;
  header.tcm_ifindex = static_cast<int>(index);
  header.tcm_parent = parent;
  header.tcm_handle = handle;
  return header;
}

int flags_of(QdiscVerb verb)
{
  switch (verb) {
  case QdiscVerb::add:
    return NLM_F_CREATE | NLM_F_EXCL;
  case QdiscVerb::replace:
    return NLM_F_CREATE | NLM_F_REPLACE;
  case QdiscVerb::change:
    break;
  }
  return 0;
}

QdiscCounters decode_counters(const Attributes& statistics)
{
  QdiscCounters counters;
  if (const auto basic = statistics.get<BasicStats>(TCA_STATS_BASIC)) {
    counters.bytes = basic->bytes;
    counters.packets = basic->packets;
  }
  // Sent as soon as the 32-bit counter has wrapped.
  if (const auto packets = statistics.get<std::uint64_t>(TCA_STATS_PKT64))
    counters.packets = *packets;
  if (const auto queue = statistics.get<gnet_stats_queue>(TCA_STATS_QUEUE)) {
    counters.drops = queue->drops;
    counters.overlimits = queue->overlimits;
    counters.requeues = queue->requeues;
    counters.queued_packets = queue->qlen;
    counters.queued_bytes = queue->backlog;
  }
  if (const auto extra = statistics.get<NetemXstats>(TCA_STATS_APP)) {
    counters.exact = true;
    counters.delayed = extra->delayed;
    counters.lost = extra->dropped;
    counters.corrupted = extra->corrupted;
    counters.duplicated = extra->duplicated;
    counters.reordered = extra->reordered;
    counters.ecn_marked = extra->ecn_marked;
    counters.allocation_errors = extra->allocation_errors;
  }
  return counters;
}

} // namespace

Message netem_message(QdiscVerb verb, std::uint32_t index, const Netem& netem)
{
  Message message(RTM_NEWQDISC, flags_of(verb));
  message.header(header_for(index, TC_H_ROOT, netem_handle)).put_string(TCA_KIND, "netem");
  put_netem(message, netem);
  return message;
}

Message clsact_message(std::uint32_t index)
{
  Message message(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL);
  message.header(header_for(index, TC_H_CLSACT, TC_H_MAKE(TC_H_CLSACT, 0)));
  message.put_string(TCA_KIND, "clsact");
  return message;
}

Message redirect_message(std::uint32_t from, std::uint32_t to)
{
  Message message(RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL);
  tcmsg header = header_for(from, TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS), 0);
  header.tcm_info = TC_H_MAKE(std::uint32_t{redirect_priority} << 16, htons(ETH_P_ALL));
  message.header(header).put_string(TCA_KIND, "matchall");
  message.nest(TCA_OPTIONS, [&] {
    message.nest(TCA_MATCHALL_ACT, [&] {
      message.nest(1, [&] { // the first action of the list
        message.put_string(TCA_ACT_KIND, "mirred");
        message.nest(TCA_ACT_OPTIONS, [&] {
          tc_mirred parameters{};
          parameters.action = TC_ACT_STOLEN;
          parameters.eaction = TCA_EGRESS_REDIR;
          parameters.ifindex = to;
          message.put(TCA_MIRRED_PARMS, parameters);
        });
      });
    });
  });
  return message;
}

Status set_netem(NlSocket& socket, QdiscVerb verb, std::uint32_t index, const Netem& netem)
{
  TRY(check(netem));
  Message message = netem_message(verb, index, netem);
  return socket.request(message, "set netem on device " + std::to_string(index));
}

Status delete_root(NlSocket& socket, std::uint32_t index)
{
  Message message(RTM_DELQDISC);
  message.header(header_for(index, TC_H_ROOT, 0));
  Status status =
      socket.request(message, "delete the root qdisc of device " + std::to_string(index));
  if (!status && status.error().number == ENOENT) return {};
  return status;
}

Status redirect_ingress(NlSocket& socket, std::uint32_t from, std::uint32_t to)
{
  Message hook = clsact_message(from);
  Status made = socket.request(hook, "make clsact on device " + std::to_string(from));
  if (!made && made.error().number != EEXIST) return made;
  Message filter = redirect_message(from, to);
  return socket.request(filter, "redirect what comes in from device " + std::to_string(from));
}

Result<QdiscState> decode_qdisc(Bytes payload)
{
  const auto header = value_of<tcmsg>(payload);
  if (!header) return system_error(EBADMSG, "read a qdisc");
  const Attributes attributes(payload, sizeof(tcmsg));
  QdiscState state;
  state.index = static_cast<std::uint32_t>(header->tcm_ifindex);
  state.handle = header->tcm_handle;
  state.parent = header->tcm_parent;
  state.kind = attributes.text(TCA_KIND);
  if (state.kind == "netem") {
    TRY_ASSIGN(state.netem, decode_netem(attributes.find(TCA_OPTIONS).value_or(Bytes{})));
  }
  if (const auto statistics = attributes.find(TCA_STATS2))
    state.counters = decode_counters(Attributes(*statistics));
  return state;
}

Result<std::vector<QdiscState>> read_qdiscs(NlSocket& socket, std::uint32_t index)
{
  Message message(RTM_GETQDISC, NLM_F_DUMP);
  message.header(header_for(index, 0, 0));
  std::vector<QdiscState> found;
  Status failed;
  const auto collect = [&](const Reply& reply) {
    auto state = decode_qdisc(reply.payload);
    if (!state)
      failed = std::move(state).error();
    else if (index == 0 || state->index == index) // the kernel dumps all devices' in any case
      found.push_back(std::move(*state));
  };
  TRY(socket.request(message, "list qdiscs", collect, [&] { found.clear(); }));
  if (!failed) return std::move(failed).error();
  return found;
}

const QdiscState* find_netem(const std::vector<QdiscState>& all, std::uint32_t index)
{
  for (const QdiscState& state : all)
    if (state.index == index && state.kind == "netem" && state.handle == netem_handle &&
        state.parent == TC_H_ROOT)
      return &state;
  return nullptr;
}

Result<QdiscState> read_netem(NlSocket& socket, std::uint32_t index)
{
  TRY_ASSIGN(const std::vector<QdiscState> all, read_qdiscs(socket, index));
  if (const QdiscState* state = find_netem(all, index)) return *state;
  return system_error(ENOENT, "read the netem of device " + std::to_string(index));
}

Status assert_noqueue(NlSocket& socket, const std::string& device)
{
  TRY_ASSIGN(const LinkState state, read_link(socket, device));
  if (state.qdisc == "noqueue") return {};
  return Error{Exit::setup,
               "check the root qdisc of " + device + ": it is " + state.qdisc + ", not noqueue",
               0,
               "a queue on a host's own device turns drops into local errors of rxe",
               {}};
}

} // namespace rdmalab::net
