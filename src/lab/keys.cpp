#include "lab/keys.h"

#include "lab/key_makers.h"
#include "lab/mistake.h"

#include <algorithm>

namespace rdmalab::lab {

using namespace key_makers;

namespace {

std::vector<Key> shape_keys()
{
  return {
      range(1'000, 400 * gbit,
            key("rate", Type::rate, "bits per second of Ethernet frames; default: not limited")),
      range(0, 10 * s, fallback("0ns", key("delay", Type::time, "one way"))),
      range(1, 1'000'000,
            key("queue", Type::integer, "packets; default: so many that the queue never drops")),
  };
}

Key ends(TrafficKind kind, const std::vector<std::string>& kinds)
{
  return only(kinds, fallback("ok", choices(ending_words(kind),
                                            key("ends", Type::choice,
                                                "how the traffic is expected to end"))));
}

} // namespace

const Key* Table::find(std::string_view name, std::string_view kind) const
{
  for (const Key& k : keys) {
    if (k.name != name) continue;
    if (k.kinds.empty() || std::find(k.kinds.begin(), k.kinds.end(), kind) != k.kinds.end())
      return &k;
  }
  return nullptr;
}

std::vector<std::string> Table::names(std::string_view kind) const
{
  std::vector<std::string> found;
  for (const Key& k : keys)
    if (find(k.name, kind) == &k) found.push_back(k.name);
  return found;
}

std::vector<std::string> Table::all_names() const
{
  std::vector<std::string> found;
  for (const Key& k : keys)
    if (std::find(found.begin(), found.end(), k.name) == found.end()) found.push_back(k.name);
  return found;
}

std::vector<std::string> Table::kinds() const
{
  const Key* kind = find("kind");
  return kind != nullptr ? kind->choices : std::vector<std::string>{};
}

const Table& shape_table()
{
  static const Table table{"one direction of a link", shape_keys()};
  return table;
}

const Table& link_table()
{
  static const Table table = [] {
    Table made{"a link", shape_keys()};
    made.keys.push_back(range(
        576, 9000,
        fallback("1500", key("mtu", Type::integer, "bytes of an IP packet, of every interface"))));
    return made;
  }();
  return table;
}

const Table& sides_table()
{
  static const Table table{
      "the link of one host",
      {with(shape_table(),
            key("down", Type::object, "fabric to host, in place of the default link")),
       with(shape_table(),
            key("up", Type::object, "host to fabric, in addition; default: not shaped"))}};
  return table;
}

const Table& host_table()
{
  static const Table table = [] {
    Table made{"a host", {required(key("name", Type::name, "of its namespace"))}};
    for (const Key& side : sides_table().keys) made.keys.push_back(side);
    return made;
  }();
  return table;
}

const Table& topology_table()
{
  static const Table table{
      "the topology",
      {required(with(host_table(), key("hosts", Type::hosts, "two or more"))),
       with(link_table(),
            key("link", Type::object, "what every packet passes on its way down to its receiver")),
       with(sides_table(),
            key("links", Type::links, "by host: what differs from the default link")),
       fallback("off",
                key("offloads", Type::flag, "TSO, GSO and GRO; off: one skb is one packet"))}};
  return table;
}

const Table& traffic_table()
{
  const std::vector<std::string> verbs{"verbs"};
  const std::vector<std::string> tcp{"tcp"};
  const std::vector<std::string> command{"command"};
  static const Table table{
      "a traffic",
      {required(key("name", Type::name, "for expectations and reports")),
       required(choices({"verbs", "tcp", "command"},
                        key("kind", Type::choice, "RDMA, TCP, or any program"))),
       required(key("from", Type::name, "the host that posts work, or connects and sends")),
       required(key("to", Type::name, "the other host")),
       range(8, 16 << 20,
             fallback("64KiB", key("message", Type::bytes,
                                   "size of one message; at least 64B, or 8B of atomics"))),
       only(verbs,
            fallback("write", choices({"send", "send-imm", "write", "write-imm", "write-notify",
                                       "read", "fetch-add", "compare-swap", "register"},
                                      key("op", Type::choice, "verbs operation")))),
       only(verbs, fallback("rc", choices({"rc", "uc", "ud", "iwarp"},
                                          key("transport", Type::choice,
                                              "RoCEv2's reliable or unreliable connection or "
                                              "datagrams, or RDMA over TCP")))),
       only(verbs, fallback("tcp", choices({"tcp", "cm"},
                                           key("connect", Type::choice,
                                               "how QPs learn of their peers; cm: librdmacm")))),
       only(verbs, fallback("off", key("inline", Type::flag, "IBV_SEND_INLINE"))),
       only(verbs,
            fallback("off", key("srq", Type::flag, "the target's QPs share one receive queue"))),
       only(verbs, range(1, 1024,
                         fallback("16", key("depth", Type::integer, "messages in flight per QP")))),
       only(verbs, range(1, 1024,
                         key("signal_every", Type::integer,
                             "of so many messages only the last makes a completion; default: 1, or "
                             "depth/4 of an op that the target receives"))),
       only(verbs, range(1, 64, fallback("1", key("qps", Type::integer, "queue pairs")))),
       only(verbs, choices({"256", "512", "1024", "2048", "4096"},
                           key("path_mtu", Type::integer,
                               "bytes of payload per packet; default: the port's"))),
       only(verbs, range(0, 31,
                         fallback("14", key("timeout", Type::integer,
                                            "local ACK timeout, 4.096 us * 2^timeout; 0: never")))),
       only(verbs, range(0, 7,
                         fallback("6", key("retry_count", Type::integer,
                                           "tries after a timeout; rxe takes 7 for: for ever")))),
       only(verbs, range(0, 7,
                         fallback("6", key("rnr_retry", Type::integer,
                                           "tries after a receiver-not-ready; 7: for ever")))),
       only(verbs, range(0, 31,
                         fallback("12", key("min_rnr_timer", Type::integer,
                                            "code of the RNR NAK timer; 12: 0.64 ms")))),
       only(verbs,
            range(1, 1'000'000'000,
                  key("messages", Type::integer,
                      "per QP in all, then the traffic is idle; default: until the window ends"))),
       only(verbs, range(0, 2048,
                         key("receives", Type::integer,
                             "posted before the traffic starts; default: twice the depth"))),
       only(verbs, range(0, 60 * s,
                         fallback("at-once",
                                  choices({"at-once", "never"},
                                          key("replenish", Type::time_or_word,
                                              "when used receives are posted again; a time: that "
                                              "long after the queue ran empty, all at once"))))),
       only(verbs, choices({"wrong-rkey", "no-remote-access", "deregistered", "not-registered",
                            "out-of-bounds", "long-send", "qp-no-access", "misaligned-atomic",
                            "qp-reset", "qp-init", "qp-rtr", "qp-error", "no-exchange"},
                           key("mistake", Type::choice, "verbs used wrongly on purpose"))),
       ends(TrafficKind::verbs, verbs),
       ends(TrafficKind::tcp, tcp),
       ends(TrafficKind::command, command),
       only(tcp, range(1, 64, fallback("1", key("streams", Type::integer, "connections")))),
       only(tcp, fallback("cubic",
                          choices({"bbr", "bic", "cdg", "cubic", "dctcp", "highspeed", "htcp",
                                   "hybla", "illinois", "lp", "nv", "reno", "scalable", "vegas",
                                   "veno", "westwood", "yeah"},
                                  key("congestion", Type::choice, "congestion control of Linux")))),
       only(tcp, fallback("off", key("nodelay", Type::flag, "TCP_NODELAY"))),
       only(tcp, range(0, 1024,
                       fallback("0", key("depth", Type::integer,
                                         "messages per stream that the receiving application has "
                                         "not answered; 0: none is answered")))),
       only(tcp, fallback("off", key("zerocopy", Type::flag, "MSG_ZEROCOPY"))),
       only(command, required(key("client", Type::text,
                                  "program and arguments, run at `from`; {rdma}, "
                                  "{ip} and {peer} are filled in"))),
       only(command,
            key("server", Type::text, "program and arguments, run at `to`, started first")),
       only(command,
            key("files", Type::texts, "files that the programs read, in a guest as /files/NAME")),
       only(command, key("figure", Type::text,
                         "regular expression whose first group, in the client's output, is the "
                         "figure; of a count: which matches are counted")),
       only(command, fallback("Mbit/s", choices({"bit/s", "Mbit/s", "Gbit/s", "MB/s", "MiB/s", "ns",
                                                 "us", "ms", "s", "count"},
                                                key("unit", Type::choice, "of that figure"))))}};
  return table;
}

const Table& where_table()
{
  static const Table table{"where a fault is",
                           {key("from", Type::name, "packets that this host sends"),
                            key("to", Type::name, "packets that this host is to receive")}};
  return table;
}

const Table& fault_table()
{
  const std::vector<std::string> burst{"burst-loss"};
  const std::vector<std::string> jitter{"jitter"};
  static const Table table{
      "a fault",
      {required(key("name", Type::name, "for expectations and reports")),
       required(with(where_table(), key("where", Type::object, "one direction"))),
       required(choices(
           {"loss", "burst-loss", "delay", "jitter", "rate", "duplicate", "reorder", "corrupt"},
           key("kind", Type::choice, "what happens to packets"))),
       only({"loss", "duplicate", "reorder", "corrupt"},
            required(range(0, all, key("rate", Type::share, "share of packets")))),
       only({"loss", "duplicate", "reorder", "corrupt"},
            range(0, all,
                  fallback("0%", key("correlation", Type::share, "with the packet before")))),
       only(burst,
            required(range(1, all,
                           key("p", Type::share, "per packet: from the good state to the bad")))),
       only(burst,
            required(range(1, all,
                           key("r", Type::share, "per packet: from the bad state to the good")))),
       only(burst,
            range(0, all, fallback("100%", key("bad_loss", Type::share, "loss in the bad state")))),
       only(burst,
            range(0, all, fallback("0%", key("good_loss", Type::share, "loss in the good state")))),
       only({"delay"}, required(range(us, 10 * s, key("delay", Type::time, "added one way")))),
       only(jitter,
            required(
                range(us, 10 * s, key("jitter", Type::time, "plus or minus, evenly distributed")))),
       only(jitter,
            fallback("off", key("reorder", Type::flag, "packets may overtake one another"))),
       only({"reorder"},
            required(
                range(us, 10 * s, key("delay", Type::time, "how long the overtaken ones wait")))),
       only({"reorder"},
            range(1, 1000,
                  fallback("1", key("gap", Type::integer, "every gap-th packet is a candidate")))),
       only({"rate"}, required(range(1'000, 400 * gbit,
                                     key("rate", Type::rate, "in place of the link's"))))}};
  return table;
}

const Table& measure_table()
{
  static const Table table{
      "the measurement",
      {range(0, 60 * s,
             fallback("100ms", key("warmup", Type::time, "from the fault's start to the window"))),
       range(ms, 600 * s, fallback("1s", key("duration", Type::time, "the measuring window"))),
       range(1, 1000,
             fallback("3", key("repeat", Type::integer, "times, each with a seed of its own"))),
       fallback("off", key("path", Type::flag, "count the stages of a message's path"))}};
  return table;
}

const Table& claim_table()
{
  static const Table table{
      "a claim",
      {required(key("claim", Type::text, "a sentence of the course")),
       required(key("where", Type::text, "in the course it stands")),
       key("holds", Type::text, "a comparison as in expect; default: it can't be measured here"),
       key("because", Type::text, "why it can't be, or what a contradiction comes from")}};
  return table;
}

const Table& sweep_table()
{
  static const Table table{
      "a sweep",
      {required(key("fault", Type::name, "whose rate changes")),
       required(range(1, all, key("rates", Type::shares, "one run of the lab for each")))}};
  return table;
}

const Table& lab_table()
{
  static const Table table{
      "a lab",
      {required(choices({"1"}, key("version", Type::integer, "of this format"))),
       required(key("name", Type::name, "what the lab is called")),
       key("hypothesis", Type::text, "the sentence that the lab puts to the test"),
       key("description", Type::text, "what to watch"),
       key("questions", Type::texts, "to be answered from the result"),
       range(0, 9'007'199'254'740'991,
             fallback("1", key("seed", Type::integer, "of every random choice"))),
       range(s, 3600 * s, fallback("120s", key("timeout", Type::time, "that one cell may take"))),
       required(with(topology_table(),
                     key("topology", Type::object, "hosts and the fabric between them"))),
       required(with(traffic_table(), key("traffic", Type::objects, "what is sent"))),
       fallback("apart", choices({"apart", "together"},
                                 key("run", Type::groups, "which traffics run together"))),
       with(fault_table(),
            key("faults", Type::objects, "what goes wrong in the faulted condition")),
       with(rule_table(), key("rules", Type::objects, "faults addressed to single packets")),
       with(trace_table(), key("trace", Type::object, "every packet, for Wireshark and analysis")),
       with(event_table(), key("events", Type::objects, "what is seen on the wire, in this order")),
       with(measure_table(), key("measure", Type::object, "how long and how often")),
       key("expect", Type::texts,
           "comparisons that must hold, in the language of docs/lab-file.md"),
       with(claim_table(),
            key("claims", Type::objects, "of the course, to be confirmed or contradicted")),
       key("conclusion", Type::texts, "sentences with figures in braces, said after the run"),
       with(sweep_table(), key("sweep", Type::object, "the points of `rdmalab sweep`"))}};
  return table;
}

} // namespace rdmalab::lab
