#include "lab/operation.h"
#include "lab/reader.h"
#include "lab/sections.h"
#include "lab/suggest.h"

#include <algorithm>
#include <regex>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::lab {
namespace {

/// Of the header by which a message is checked.
constexpr std::uint64_t least_message_bytes = 64;

void read_tcp(Reader& reader, const Traffic& traffic, Tcp& tcp, Diagnostics& out)
{
  reader.into("streams", tcp.streams);
  reader.into("congestion", tcp.congestion);
  reader.into("nodelay", tcp.nodelay);
  reader.into("depth", tcp.depth);
  reader.into("zerocopy", tcp.zerocopy);
  const std::uint64_t in_flight = traffic.message_bytes * tcp.depth * tcp.streams;
  if (in_flight > most_bytes_in_flight)
    out.add(
        reader.place("depth"),
        fmt::format("message * depth * streams of \"{}\" is {}", traffic.name,
                    format_quantity(Type::bytes, in_flight)),
        fmt::format("at most {} in flight", format_quantity(Type::bytes, most_bytes_in_flight)));
}

void read_command(Reader& reader, Command& command, Diagnostics& out)
{
  reader.into("client", command.client);
  reader.into("server", command.server);
  if (const Node* files = reader.child("files")) {
    if (!files->sequence())
      out.add(*files, fmt::format("files is a list, not {}", describe(*files)));
    else
      for (const Node& item : files->items)
        if (item.scalar())
          command.files.push_back(item.text);
        else
          out.add(item, fmt::format("a file is a path, not {}", describe(item)));
  }
  reader.into("figure", command.figure);
  reader.into("unit", command.unit);
  try {
    const std::regex pattern(command.figure);
    if (!command.figure.empty() && pattern.mark_count() == 0 && command.unit != "count")
      out.add(reader.place("figure"), "figure has no group",
              "put the number's pattern in parentheses, or count its matches by unit: count");
  } catch (const std::regex_error& e) {
    out.add(reader.place("figure"), fmt::format("figure is no regular expression: {}", e.what()));
  }
}

void read_one(const Node& node, Lab& lab, const Names& hosts, Names& traffics, Diagnostics& out)
{
  Traffic traffic;
  Reader reader(node, traffic_table(), out);
  reader.into("name", traffic.name);
  reader.into("from", traffic.from);
  reader.into("to", traffic.to);
  reader.into("message", traffic.message_bytes);
  if (traffic.name.empty() || !traffics.declare(traffic.name, reader.place("name")))
    traffics.distrust();
  if (!traffic.from.empty()) hosts.check(traffic.from, reader.place("from"));
  if (!traffic.to.empty()) hosts.check(traffic.to, reader.place("to"));
  if (!traffic.from.empty() && traffic.from == traffic.to)
    out.add(reader.place("to"),
            fmt::format("\"{}\" goes from {} to itself", traffic.name, traffic.from),
            "packets to oneself never reach the fabric");
  if (reader.kind() == "verbs") {
    traffic.kind = TrafficKind::verbs;
    read_verbs(reader, traffic, lab.topology.mtu, out);
  } else if (reader.kind() == "tcp") {
    traffic.kind = TrafficKind::tcp;
    read_tcp(reader, traffic, traffic.tcp, out);
  } else if (reader.kind() == "command") {
    traffic.kind = TrafficKind::command;
    read_command(reader, traffic.command, out);
  }
  if (!reader.kind().empty()) reader.into("ends", traffic.ends);
  const bool atomic = traffic.kind == TrafficKind::verbs && operation_of(traffic.verbs.op).atomic;
  if (traffic.message_bytes < least_message_bytes && !atomic)
    out.add(reader.place("message"),
            fmt::format("message {} is out of range",
                        format_quantity(Type::bytes, traffic.message_bytes)),
            "allowed: 64B to 16MiB; a message has a header to check it by");
  lab.traffic.push_back(std::move(traffic));
}

} // namespace

std::uint32_t ib_mtu(std::uint32_t interface_mtu)
{
  for (std::uint32_t mtu = 4096; mtu >= 256; mtu /= 2)
    if (mtu + 80 <= interface_mtu) return mtu;
  return 0;
}

void read_traffic(const Node& node, Lab& lab, const Names& hosts, Names& traffics, Diagnostics& out)
{
  if (!node.sequence() || node.items.empty()) {
    out.add(node,
            fmt::format("traffic is a list with at least one entry, not {}",
                        node.sequence() ? "an empty one" : describe(node)),
            "for example - {name: tcp, kind: tcp, from: client, to: server}");
    traffics.distrust();
    return;
  }
  for (const Node& item : node.items) read_one(item, lab, hosts, traffics, out);
}

namespace {

/// An address has one RDMA device in a cell, or the connection manager would have to guess.
void check_devices(const Node& node, const Lab& lab, Diagnostics& out)
{
  for (const auto& group : lab.groups) {
    bool siw = false;
    bool rxe = false;
    for (const std::string& name : group) {
      const Traffic* traffic = find_traffic(lab, name);
      if (traffic == nullptr || traffic->kind == TrafficKind::tcp) continue;
      (over_iwarp(*traffic) ? siw : rxe) = true;
    }
    if (siw && rxe)
      out.add(node, "RoCE and iWARP can't run together: a host has one RDMA device at a time",
              "run: apart, or a group for each");
  }
}

} // namespace

void read_groups(const Node* node, Lab& lab, const Names& traffics, Diagnostics& out)
{
  if (node == nullptr || (node->scalar() && node->text == "apart")) {
    for (const std::string& name : traffics.all()) lab.groups.push_back({name});
    return;
  }
  if (node->scalar() && node->text == "together") {
    lab.groups.push_back(traffics.all());
    check_devices(*node, lab, out);
    return;
  }
  const std::string hint = "apart, together, or a list of lists such as [[a, b], [c]]";
  if (!node->sequence()) {
    out.add(*node, fmt::format("run can't be {}", describe(*node)), hint);
    return;
  }
  const std::size_t problems = out.size();
  std::vector<std::string> seen;
  for (const Node& group : node->items) {
    if (!group.sequence() || group.items.empty()) {
      out.add(group, fmt::format("a group is a list of traffics, not {}", describe(group)), hint);
      continue;
    }
    std::vector<std::string> names;
    for (const Node& item : group.items) {
      if (!item.scalar()) {
        out.add(item, fmt::format("a traffic's name, not {}", describe(item)), hint);
        continue;
      }
      if (!traffics.check(item.text, item)) continue;
      if (std::find(seen.begin(), seen.end(), item.text) != seen.end())
        out.add(item, fmt::format("traffic \"{}\" runs twice", item.text),
                "each traffic runs in one group");
      seen.push_back(item.text);
      names.push_back(item.text);
    }
    lab.groups.push_back(std::move(names));
  }
  if (out.size() != problems || !traffics.trusted()) return;
  for (const std::string& name : traffics.all())
    if (std::find(seen.begin(), seen.end(), name) == seen.end())
      out.add(*node, fmt::format("traffic \"{}\" runs in no group", name),
              "each traffic runs in one group");
  check_devices(*node, lab, out);
}

} // namespace rdmalab::lab
