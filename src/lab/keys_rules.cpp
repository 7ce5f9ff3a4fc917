#include "lab/functions.h"
#include "lab/key_makers.h"
#include "lab/keys.h"

namespace rdmalab::lab {

using namespace key_makers;

namespace {

/// What wire/opcode.cpp knows of reliable connections; a test compares the two.
const std::vector<std::string>& rc_opcodes()
{
  static const std::vector<std::string> names{"RC_SEND_FIRST",
                                              "RC_SEND_MIDDLE",
                                              "RC_SEND_LAST",
                                              "RC_SEND_LAST_WITH_IMMEDIATE",
                                              "RC_SEND_ONLY",
                                              "RC_SEND_ONLY_WITH_IMMEDIATE",
                                              "RC_RDMA_WRITE_FIRST",
                                              "RC_RDMA_WRITE_MIDDLE",
                                              "RC_RDMA_WRITE_LAST",
                                              "RC_RDMA_WRITE_LAST_WITH_IMMEDIATE",
                                              "RC_RDMA_WRITE_ONLY",
                                              "RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE",
                                              "RC_RDMA_READ_REQUEST",
                                              "RC_RDMA_READ_RESPONSE_FIRST",
                                              "RC_RDMA_READ_RESPONSE_MIDDLE",
                                              "RC_RDMA_READ_RESPONSE_LAST",
                                              "RC_RDMA_READ_RESPONSE_ONLY",
                                              "RC_ACKNOWLEDGE",
                                              "RC_ATOMIC_ACKNOWLEDGE",
                                              "RC_COMPARE_SWAP",
                                              "RC_FETCH_ADD",
                                              "RC_SEND_LAST_WITH_INVALIDATE",
                                              "RC_SEND_ONLY_WITH_INVALIDATE"};
  return names;
}

constexpr std::uint64_t most_number = std::uint64_t{1} << 40;

} // namespace

const Table& trace_table()
{
  static const Table table{
      "the trace",
      {fallback("on", key("on", Type::flag, "keep every packet at every port")),
       range(64, 9216, fallback("128", key("snap", Type::integer, "bytes kept of each frame")))}};
  return table;
}

const Table& rule_table()
{
  static const Table table{
      "a rule",
      {required(key("name", Type::name, "for expectations and reports")),
       required(
           choices({"drop", "delay", "duplicate", "reorder", "corrupt", "forge", "mark", "rewrite"},
                   key("kind", Type::choice, "what is done to the packet"))),
       required(key("traffic", Type::name, "whose packets")),
       range(0, 63,
             key("stream", Type::integer,
                 "its QP or TCP stream, from 0 in order of creation; default: all")),
       choices({"data", "ack", "nak", "rnr", "read-request", "read-response", "atomic",
                "atomic-ack", "cnp", "syn", "fin"},
               key("class", Type::words, "classes of packets; default: all")),
       choices({"first", "middle", "last", "only"},
               key("position", Type::words, "place in the message; default: any")),
       choices(rc_opcodes(), key("opcode", Type::choice, "of the BTH; default: any")),
       range(0, most_number,
             key("number", Type::spans,
                 "PSN counted from the queue pair's first, or TCP payload byte; default: any")),
       range(1, 1'000'000,
             fallback("1..", key("transmission", Type::spans,
                                 "which time the packet is sent; 1: the first"))),
       range(1, 1'000'000'000,
             fallback("1", key("every", Type::integer, "only the every-th that matches"))),
       range(1, all, fallback("100%", key("rate", Type::share, "share of those that match"))),
       key("draw", Type::name,
           "rules of the same draw decide alike for the n-th data packet of their traffic"),
       range(1, all, key("p", Type::share, "bursts: a match, from the good state to the bad")),
       range(1, all, key("r", Type::share, "bursts: a match, from the bad state to the good")),
       range(0, 600 * s, fallback("0s", key("begin", Type::time, "after the start of traffic"))),
       range(us, 600 * s, key("end", Type::time, "after the start of traffic; default: never")),
       range(1, 1'000'000'000, key("limit", Type::integer, "so many hits; default: no limit")),
       fallback("off", key("may_miss", Type::flag, "on: it need not hit anything")),
       only({"delay"},
            required(range(us, 5 * s, key("delay", Type::time, "how long the packet is held")))),
       only({"reorder"},
            required(range(1, 127,
                           key("packets", Type::integer, "of the same flow that pass it first")))),
       only({"corrupt", "forge"},
            range(0, 9000,
                  fallback("0", key("offset", Type::integer, "into the packet's payload, bytes")))),
       only({"corrupt", "forge"},
            range(1, 8, fallback("1", key("bytes", Type::integer, "that are inverted")))),
       only({"rewrite"}, range(0, 63, key("dscp", Type::integer, "the new code point"))),
       only({"rewrite"}, range(1, 255, key("ttl", Type::integer, "the new time to live")))}};
  return table;
}

const Table& event_table()
{
  const std::vector<std::string> classes{
      "data",          "ack",    "nak",        "rnr", "read-request",
      "read-response", "atomic", "atomic-ack", "cnp", "any"};
  static const Table table{
      "an event",
      {choices(classes, key("packet", Type::choice, "the class of a packet that is sent")),
       choices(classes, key("never", Type::choice,
                            "no packet of this class is sent between the events around this one")),
       choices(words_of(Parameter::status),
               key("completion", Type::choice, "how work has completed at the end")),
       choices({"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"},
               key("state", Type::choice, "of the queue pair at `host` at the end")),
       choices(words_of(Parameter::counter),
               key("counter", Type::choice, "at `host`, over the window")),
       key("traffic", Type::name, "whose; default: the only one of kind verbs"),
       range(0, 63, fallback("0", key("stream", Type::integer, "its queue pair"))),
       choices(rc_opcodes(), key("opcode", Type::choice, "of the BTH; default: any")),
       range(0, most_number,
             key("number", Type::spans,
                 "PSN counted from the queue pair's first; a range: one after another")),
       choices(
           {"sequence-error", "invalid-request", "remote-access-error", "remote-operational-error"},
           key("syndrome", Type::choice, "of a NAK; default: any")),
       range(0, 31, key("rnr_timer", Type::integer, "code in an RNR NAK; default: any")),
       range(1, 1'000'000,
             key("transmission", Type::integer,
                 "which time it is sent, 1: the first; default: any, with `do` the "
                 "first")),
       key("from", Type::name, "the host that sends it; default: any"),
       choices({"drop", "duplicate", "corrupt", "forge", "mark"},
               key("do", Type::choice, "what is done to it: a rule of its own")),
       key("rule", Type::name, "the rule that hits it; default: whatever happens to it"),
       range(0, 600 * s,
             fallback("0s", key("after", Type::time, "at least so long after the event before"))),
       range(1, 600 * s, key("within", Type::time, "at most so long after the event before")),
       key("host", Type::name, "of a state or counter"),
       range(
           0, most_number,
           key("count", Type::integer, "of completions or of the counter; default: 1 at least"))}};
  return table;
}

} // namespace rdmalab::lab
