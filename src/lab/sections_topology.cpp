#include "lab/reader.h"
#include "lab/sections.h"
#include "lab/suggest.h"

#include <algorithm>
#include <set>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::lab {
namespace {

constexpr std::size_t max_hosts =
    64; // what one fabric's /24 and one guest's memory carry with ease

/// "host/side" of what is said already.
using SidesGiven = std::set<std::string>;

void read_shape_keys(Reader& reader, LinkShape& shape)
{
  reader.into("rate", shape.rate_bps);
  reader.into("delay", shape.delay_ns);
  reader.into("queue", shape.queue_packets);
}

LinkShape read_shape(const Node& node, LinkShape shape, Diagnostics& out)
{
  Reader reader(node, shape_table(), out);
  read_shape_keys(reader, shape);
  return shape;
}

/// What one host's mapping says about its link, beside the default link. A side given in two places
/// is an error.
void read_sides(Reader& reader, Host& host, SidesGiven& given, const LinkShape& link,
                Diagnostics& out)
{
  const Node* down = reader.child("down");
  const Node* up = reader.child("up");
  const auto first = [&](const Node* side, const std::string& name) {
    if (side == nullptr) return false;
    if (given.insert(host.name + "/" + name).second) return true;
    out.add(*side, fmt::format("{} of host {} is given twice", name, host.name),
            "say it either in topology.hosts or in topology.links");
    return false;
  };
  if (first(down, "down")) host.down = read_shape(*down, link, out);
  if (first(up, "up")) host.up = read_shape(*up, {}, out);
}

Host read_host(const Node& node, const LinkShape& shape, SidesGiven& given, Diagnostics& out)
{
  Host host;
  host.down = shape;
  if (node.mapping()) {
    Reader reader(node, host_table(), out);
    reader.into("name", host.name);
    read_sides(reader, host, given, shape, out);
  } else if (node.scalar() && is_name(node.text)) {
    host.name = node.text;
  } else {
    out.add(node, fmt::format("a host is a name, not {}", describe(node)),
            "a name is a letter and then at most 31 letters, digits, - and _");
  }
  return host;
}

void read_hosts(const Node& node, Topology& topology, Names& names, const LinkShape& shape,
                SidesGiven& given, Diagnostics& out)
{
  const std::size_t problems = out.size();
  if (!node.sequence())
    out.add(node, fmt::format("hosts is a list, not {}", describe(node)),
            "for example [client, server]");
  else if (node.items.size() < 2)
    out.add(node, "a lab has two hosts or more", "for example [client, server]");
  else if (node.items.size() > max_hosts)
    out.add(node, fmt::format("{} hosts are too many", node.items.size()),
            fmt::format("at most {}", max_hosts));
  else
    for (const Node& item : node.items) {
      Host host = read_host(item, shape, given, out);
      if (host.name == "fabric")
        out.add(item, "a host can't be named \"fabric\"",
                "the namespace between the hosts has this name");
      else if (!host.name.empty() && names.declare(host.name, item))
        topology.hosts.push_back(std::move(host));
    }
  if (out.size() != problems) names.distrust();
}

void read_links(const Node& node, Topology& topology, const Names& names, const LinkShape& shape,
                SidesGiven& given, Diagnostics& out)
{
  if (!node.mapping()) {
    out.add(node, fmt::format("links is a mapping from hosts, not {}", describe(node)),
            "for example {server: {down: {rate: 100mbit}}}");
    return;
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const Node& key = node.keys[i];
    if (!key.scalar()) {
      out.add(key, fmt::format("a key is a host's name, not {}", describe(key)));
      continue;
    }
    if (!seen.insert(key.text).second) {
      out.add(key, fmt::format("key \"{}\" stands here twice", key.text), "remove one of the two");
      continue;
    }
    if (!names.check(key.text, key)) continue;
    Host& host = *std::find_if(topology.hosts.begin(), topology.hosts.end(),
                               [&](const Host& h) { return h.name == key.text; });
    Reader reader(node.items[i], sides_table(), out);
    read_sides(reader, host, given, shape, out);
  }
}

} // namespace

bool Names::declare(const std::string& name, const Node& at)
{
  if (!has(name)) {
    names_.push_back(name);
    return true;
  }
  out_.add(at, fmt::format("{} \"{}\" is named twice", what_, name), "give each a name of its own");
  return false;
}

bool Names::has(const std::string& name) const
{
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

bool Names::check(const std::string& name, const Node& at) const
{
  if (has(name)) return true;
  if (!trusted_) return false;
  out_.add(at, fmt::format("there is no {} \"{}\"{}", what_, name, did_you_mean(name, names_)),
           names_.empty() ? std::string{} : fmt::format("{}s: {}", what_, join(names_)));
  return false;
}

void read_topology(const Node& node, Topology& topology, Names& names, Diagnostics& out)
{
  Reader reader(node, topology_table(), out);
  const Node* hosts = reader.child("hosts");
  const Node* link = reader.child("link");
  const Node* links = reader.child("links");
  reader.into("offloads", topology.offloads);

  LinkShape shape;
  if (link != nullptr) {
    Reader link_reader(*link, link_table(), out);
    read_shape_keys(link_reader, shape);
    link_reader.into("mtu", topology.mtu);
  }
  SidesGiven given;
  if (hosts != nullptr)
    read_hosts(*hosts, topology, names, shape, given, out);
  else
    names.distrust();
  if (links != nullptr) read_links(*links, topology, names, shape, given, out);
}

} // namespace rdmalab::lab
