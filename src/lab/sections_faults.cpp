#include "base/json.h"
#include "lab/reader.h"
#include "lab/sections.h"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::lab {
namespace {

/// One netem: what a fault shares with others. A `to` is the fabric's port towards that host, a
/// sole `from` the way into the fabric.
struct Place {
  std::string host;
  bool up = false;
  bool operator==(const Place&) const = default;
};

Place place_of(const Fault& fault)
{
  return fault.to ? Place{*fault.to, false} : Place{fault.from.value_or(""), true};
}

std::string words(const Place& place)
{
  return fmt::format("packets {} {}", place.up ? "from" : "to", place.host);
}

void read_where(const Node& node, Fault& fault, const Lab& lab, const Names& hosts,
                Diagnostics& out)
{
  Reader reader(node, where_table(), out);
  fault.from = reader.text("from");
  fault.to = reader.text("to");
  const bool from_known = !fault.from || hosts.check(*fault.from, reader.place("from"));
  const bool to_known = !fault.to || hosts.check(*fault.to, reader.place("to"));
  if (node.mapping() && !reader.has("from") && !reader.has("to"))
    out.add(node, "where names no host", "for example {from: client, to: server}");
  if (!from_known || !to_known) return;
  if (fault.from && fault.from == fault.to) {
    out.add(reader.place("to"), fmt::format("a fault from {} to itself hits nothing", *fault.to));
    return;
  }
  if (fault.from && fault.to && hosts.all().size() > 2)
    out.add(node,
            "with more than two hosts a fault can't tell senders apart at its receiver's port",
            fmt::format("use {{to: {}}} or {{from: {}}} alone", *fault.to, *fault.from));
  const bool traffic_known =
      std::all_of(lab.traffic.begin(), lab.traffic.end(),
                  [&](const Traffic& t) { return hosts.has(t.from) && hosts.has(t.to); });
  if (!hosts.trusted() || lab.traffic.empty() || !traffic_known)
    return; // what is wrong there is said already
  for (const auto& end : {fault.from, fault.to}) {
    if (!end) continue;
    const bool used = std::any_of(lab.traffic.begin(), lab.traffic.end(),
                                  [&](const Traffic& t) { return t.from == *end || t.to == *end; });
    if (!used)
      out.add(node,
              fmt::format("the fault hits nothing: no traffic comes from or goes to {}", *end),
              "name a host that a traffic uses");
  }
}

/// One netem has one parameter of each kind, and some exclude one another.
void check_conflicts(const Fault& fault, const Node& at, const std::vector<Fault>& others,
                     Diagnostics& out)
{
  const auto is_loss = [](FaultKind kind) {
    return kind == FaultKind::loss || kind == FaultKind::burst_loss;
  };
  for (const Fault& other : others) {
    if (!(place_of(other) == place_of(fault))) continue;
    if (other.kind == fault.kind || (is_loss(other.kind) && is_loss(fault.kind)))
      out.add(at,
              fmt::format("faults \"{}\" and \"{}\" both decide {} of {}", other.name, fault.name,
                          is_loss(fault.kind) ? "the loss"
                                              : "the " + Json(fault.kind).get<std::string>(),
                          words(place_of(fault))),
              "make one of the two, or put them in labs of their own");
    const Fault& jitter = fault.kind == FaultKind::jitter ? fault : other;
    const Fault& reorder = fault.kind == FaultKind::reorder ? fault : other;
    if (jitter.kind == FaultKind::jitter && reorder.kind == FaultKind::reorder && !jitter.reorder)
      out.add(at,
              fmt::format("\"{}\" keeps the order that \"{}\" breaks", jitter.name, reorder.name),
              fmt::format("set reorder: on in \"{}\"", jitter.name));
  }
}

LinkShape link_at(const Place& place, const Topology& topology)
{
  for (const Host& host : topology.hosts)
    if (host.name == place.host) return place.up ? host.up.value_or(LinkShape{}) : host.down;
  return {};
}

/// What netem can't do with jitter. A packet can't leave before it came: such times are cut off,
/// and the jitter would not be what was asked. With a rate, netem queues each packet behind the one
/// before (Linux, sch_netem.c).
void check_jitter(const Lab& lab, const std::vector<const Node*>& places, Diagnostics& out)
{
  for (std::size_t i = 0; i < lab.faults.size(); ++i) {
    const Fault& jitter = lab.faults[i];
    if (jitter.kind != FaultKind::jitter) continue;
    LinkShape link = link_at(place_of(jitter), lab.topology);
    for (const Fault& other : lab.faults) {
      if (!(place_of(other) == place_of(jitter))) continue;
      if (other.kind == FaultKind::delay || other.kind == FaultKind::reorder)
        link.delay_ns += other.delay_ns;
      if (other.kind == FaultKind::rate) link.rate_bps = other.rate_bps;
    }
    if (jitter.jitter_ns > link.delay_ns)
      out.add(*places[i],
              fmt::format("jitter of {} around a delay of {} would send packets before they came",
                          format_quantity(Type::time, jitter.jitter_ns),
                          format_quantity(Type::time, link.delay_ns)),
              "add a fault of kind delay at the same place, or raise the link's delay");
    if (jitter.reorder && link.rate_bps != 0)
      out.add(*places[i],
              fmt::format("\"{}\" can't reorder: netem keeps the order on a link with a rate",
                          jitter.name),
              "take the link's rate away, or use a fault of kind reorder");
  }
}

void read_parameters(Reader& reader, Fault& fault)
{
  switch (fault.kind) {
  case FaultKind::loss:
  case FaultKind::duplicate:
  case FaultKind::corrupt:
    reader.into("rate", fault.rate_ppm);
    reader.into("correlation", fault.correlation_ppm);
    break;
  case FaultKind::burst_loss:
    reader.into("p", fault.p_ppm);
    reader.into("r", fault.r_ppm);
    reader.into("bad_loss", fault.bad_loss_ppm);
    reader.into("good_loss", fault.good_loss_ppm);
    break;
  case FaultKind::delay:
    reader.into("delay", fault.delay_ns);
    break;
  case FaultKind::jitter:
    reader.into("jitter", fault.jitter_ns);
    reader.into("reorder", fault.reorder);
    break;
  case FaultKind::rate:
    reader.into("rate", fault.rate_bps);
    break;
  case FaultKind::reorder:
    reader.into("rate", fault.rate_ppm);
    reader.into("correlation", fault.correlation_ppm);
    reader.into("delay", fault.delay_ns);
    reader.into("gap", fault.gap);
    break;
  }
}

} // namespace

void read_faults(const Node& node, Lab& lab, const Names& hosts, Diagnostics& out)
{
  if (!node.sequence()) {
    out.add(node, fmt::format("faults is a list, not {}", describe(node)),
            "for example - {name: loss, where: {from: client, to: server}, kind: loss, rate: 1%}");
    return;
  }
  Names names("fault", out);
  std::vector<const Node*> places;
  for (const Node& item : node.items) {
    Fault fault;
    Reader reader(item, fault_table(), out);
    reader.into("name", fault.name);
    if (!fault.name.empty()) names.declare(fault.name, reader.place("name"));
    if (const Node* where = reader.child("where")) read_where(*where, fault, lab, hosts, out);
    if (reader.kind().empty()) continue;
    fault.kind = Json(reader.kind()).get<FaultKind>();
    read_parameters(reader, fault);
    check_conflicts(fault, item, lab.faults, out);
    lab.faults.push_back(std::move(fault));
    places.push_back(&item);
  }
  check_jitter(lab, places, out);
}

} // namespace rdmalab::lab
