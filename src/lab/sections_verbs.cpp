#include "base/json.h"
#include "lab/mistake.h"
#include "lab/operation.h"
#include "lab/reader.h"
#include "lab/sections.h"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::lab {
namespace {

/// RXE_MAX_INLINE_DATA (Linux, rxe_param.h) and SIW_MAX_INLINE (siw-abi.h): what is left of a send
/// queue's entry.
constexpr std::uint64_t most_inline_bytes = 512;
constexpr std::uint64_t most_inline_bytes_of_siw = 80;

/// JSON's names of an enumeration are the lab file's.
template <typename Enum> void into_enum(Reader& reader, std::string_view name, Enum& field)
{
  if (const auto text = reader.text(name)) field = Json(*text).get<Enum>();
}

/// Reads what a traffic of kind verbs has for itself.
class VerbsReader {
public:
  VerbsReader(Reader& reader, Traffic& traffic, std::uint32_t interface_mtu, Diagnostics& out)
      : reader_(reader), traffic_(traffic), verbs_(traffic.verbs), interface_mtu_(interface_mtu),
        out_(out)
  {}

  void read()
  {
    into_enum(reader_, "op", verbs_.op);
    into_enum(reader_, "transport", verbs_.transport);
    into_enum(reader_, "connect", verbs_.connect);
    reader_.into("inline", verbs_.inline_data);
    reader_.into("srq", verbs_.srq);
    reader_.into("depth", verbs_.depth);
    reader_.into("signal_every", verbs_.signal_every);
    reader_.into("qps", verbs_.qps);
    reader_.into("path_mtu", verbs_.path_mtu);
    reader_.into("timeout", verbs_.timeout);
    reader_.into("retry_count", verbs_.retry_count);
    reader_.into("rnr_retry", verbs_.rnr_retry);
    reader_.into("min_rnr_timer", verbs_.min_rnr_timer);
    reader_.into("messages", verbs_.messages);
    if (const auto receives = reader_.number("receives"))
      verbs_.receives = static_cast<std::uint32_t>(*receives);
    read_replenish();
    into_enum(reader_, "mistake", verbs_.mistake);

    const Operation& op = operation_of(verbs_.op);
    if (op.atomic && !reader_.has("message")) traffic_.message_bytes = atomic_bytes;
    path_mtu();
    signalling(op);
    if (verbs_.transport == Transport::iwarp)
      iwarp(op);
    else
      transport(op);
    connecting();
    message(op);
    receiving(op);
    mistake();
  }

private:
  void read_replenish()
  {
    const Node* node = reader_.child("replenish");
    if (node == nullptr) return;
    if (node->scalar() && (node->text == "at-once" || node->text == "never")) {
      verbs_.replenish = Json(node->text).get<Replenish>();
      return;
    }
    Key key = *traffic_table().find("replenish", "verbs");
    key.type = Type::time;
    if (const auto ns = read_number(*node, key, out_)) {
      verbs_.replenish = Replenish::after;
      verbs_.replenish_ns = *ns;
    }
  }

  void path_mtu()
  {
    const std::uint32_t limit = ib_mtu(interface_mtu_);
    if (verbs_.path_mtu > limit)
      complain("path_mtu",
               fmt::format("path_mtu {} does not fit an interface MTU of {}, which carries {}",
                           verbs_.path_mtu, interface_mtu_, limit),
               fmt::format("set topology.link.mtu to {} or more (80 bytes are headers)",
                           verbs_.path_mtu + 80));
  }

  void signalling(const Operation& op)
  {
    if (verbs_.signal_every > verbs_.depth)
      complain("signal_every",
               fmt::format("signal_every {} is more than the depth, {}: nothing would complete",
                           verbs_.signal_every, verbs_.depth),
               fmt::format("at most {}, or a greater depth", verbs_.depth));
    else if (verbs_.signal_every != 0 && op.local)
      complain("signal_every", fmt::format("op {} makes no completions", op.name),
               "leave signal_every out");
  }

  /// IB specification table "Transport functions supported": UD has SENDs of one packet, UC has no
  /// READs and no atomics. A WRITE that nobody is told of can't be counted where it may be lost.
  void transport(const Operation& op)
  {
    const bool fits = verbs_.transport == Transport::rc ||
                      (verbs_.transport == Transport::ud ? op.lands : op.receives && !op.notice);
    const std::string name = Json(verbs_.transport).get<std::string>();
    if (!fits)
      complain("transport",
               fmt::format("op {} does not go over {}{}", op.name, name,
                           op.op == VerbsOp::write ? ": nobody would know what arrived" : ""),
               verbs_.transport == Transport::ud ? "send and send-imm do"
                                                 : "send, send-imm and write-imm do");
    const std::uint32_t mtu = verbs_.path_mtu != 0 ? verbs_.path_mtu : ib_mtu(interface_mtu_);
    if (fits && verbs_.transport == Transport::ud && traffic_.message_bytes > mtu)
      complain("message",
               fmt::format("a message of {} is more than one datagram, which carries {}",
                           format_quantity(Type::bytes, traffic_.message_bytes),
                           format_quantity(Type::bytes, mtu)),
               fmt::format("message: {}", format_quantity(Type::bytes, mtu)));
  }

  /// RFC 5040 knows no immediate data and no atomics (RFC 7306 adds them, siw does not); what is
  /// lost and when it is sent again is TCP's to decide, and TCP's window stands for RNR.
  void iwarp(const Operation& op)
  {
    if (op.immediate || op.atomic)
      complain("op", fmt::format("op {} does not go over iwarp", op.name),
               "send, write, write-notify and read do");
    for (const char* key : {"path_mtu", "timeout", "retry_count", "rnr_retry", "min_rnr_timer"})
      if (reader_.has(key))
        complain(key, fmt::format("{} means nothing over iwarp: TCP carries it", key),
                 "leave it out");
    if (verbs_.replenish != Replenish::at_once || verbs_.receives == 0U)
      complain("replenish", "iwarp has no RNR: a SEND without a receive breaks the connection",
               "replenish: at-once");
    if (verbs_.mistake != Mistake::none)
      complain("mistake", "mistakes are made over RoCE only", "transport: rc");
    if (!reader_.has("connect"))
      verbs_.connect = Connect::cm;
    else if (verbs_.connect != Connect::cm)
      complain("connect", "iwarp's QPs are connected by the connection manager", "connect: cm");
  }

  void connecting()
  {
    if (verbs_.connect != Connect::cm) return;
    if (!reliable(verbs_))
      complain("connect", "the connection manager connects reliable connections only",
               "transport: rc, or connect: tcp");
    const auto early = {Mistake::qp_reset, Mistake::qp_init, Mistake::qp_rtr, Mistake::no_exchange};
    if (std::find(early.begin(), early.end(), verbs_.mistake) != early.end())
      complain("mistake",
               "this mistake is made where the connection manager has its hand on the QP",
               "take another mistake, or connect: tcp");
  }

  void message(const Operation& op)
  {
    const std::string size = format_quantity(Type::bytes, traffic_.message_bytes);
    if (op.atomic && traffic_.message_bytes != atomic_bytes)
      complain("message", fmt::format("op {} works on 8 bytes, not on {}", op.name, size),
               "leave message out");
    const bool siw = verbs_.transport == Transport::iwarp;
    const std::uint64_t most_inline = siw ? most_inline_bytes_of_siw : most_inline_bytes;
    if (verbs_.inline_data && (op.reads || op.atomic || op.notice || op.local))
      complain("inline", fmt::format("op {} can't be inline", op.name),
               "only what the initiator sends can: SEND and WRITE");
    else if (verbs_.inline_data && traffic_.message_bytes > most_inline)
      complain(
          "inline",
          fmt::format("a message of {} is more than {} takes inline", size, siw ? "siw" : "rxe"),
          fmt::format("at most {}", format_quantity(Type::bytes, most_inline)));
    const std::uint64_t in_flight = traffic_.message_bytes * verbs_.depth * verbs_.qps;
    if (in_flight > most_bytes_in_flight)
      complain(
          "name",
          fmt::format("message * depth * qps of \"{}\" is {}", traffic_.name,
                      format_quantity(Type::bytes, in_flight)),
          fmt::format("at most {} in flight", format_quantity(Type::bytes, most_bytes_in_flight)));
  }

  void receiving(const Operation& op)
  {
    const auto unless_received = [&](bool set, const char* key) {
      if (set && !op.receives)
        complain(key, fmt::format("\"{}\" takes no receives", traffic_.name),
                 "an op that the target receives does, such as send");
    };
    unless_received(verbs_.receives.has_value(), "receives");
    unless_received(verbs_.replenish != Replenish::at_once, "replenish");
    unless_received(verbs_.srq, "srq");
    const std::uint64_t queues = verbs_.srq ? 1 : verbs_.qps;
    const std::uint64_t bytes = traffic_.message_bytes * verbs_.receives.value_or(0) * queues;
    if (bytes > 2 * most_bytes_in_flight)
      complain("receives",
               fmt::format("message * receives * qps of \"{}\" is {}", traffic_.name,
                           format_quantity(Type::bytes, bytes)),
               fmt::format("at most {}", format_quantity(Type::bytes, 2 * most_bytes_in_flight)));
  }

  void mistake()
  {
    if (const std::string problem = mistake_problem(verbs_); !problem.empty())
      complain("mistake", fmt::format("\"{}\" can't make this mistake: {}", traffic_.name, problem),
               "take another mistake, or another op");
  }

  void complain(std::string_view key, std::string message, std::string hint)
  {
    out_.add(reader_.place(key), std::move(message), std::move(hint));
  }

  Reader& reader_;
  Traffic& traffic_;
  Verbs& verbs_;
  std::uint32_t interface_mtu_;
  Diagnostics& out_;
};

} // namespace

void read_verbs(Reader& reader, Traffic& traffic, std::uint32_t interface_mtu, Diagnostics& out)
{
  VerbsReader(reader, traffic, interface_mtu, out).read();
}

} // namespace rdmalab::lab
