#include "lab/reader.h"
#include "lab/sections.h"
#include "lab/suggest.h"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::lab {
namespace {

constexpr std::size_t max_hosts =
    64; // what one fabric's /24 and one guest's memory carry with ease

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
void read_sides(Reader& reader, Host& host, std::map<std::string, const Node*>& given,
                const LinkShape& link, Diagnostics& out)
{
  const Node* down = reader.child("down");
  const Node* up = reader.child("up");
  const auto first = [&](const Node* side, const std::string& name) {
    if (side == nullptr) return false;
    if (given.emplace(host.name + "/" + name, side).second) return true;
    out.add(*side, fmt::format("{} of host {} is given twice", name, host.name),
            "say it either in topology.hosts or in topology.links");
    return false;
  };
  if (first(down, "down")) host.down = read_shape(*down, link, out);
  if (first(up, "up")) host.up = read_shape(*up, {}, out);
}

} // namespace

bool Names::declare(const std::string& name, const Node& at)
{
  if (std::find(names_.begin(), names_.end(), name) == names_.end()) {
    names_.push_back(name);
    return true;
  }
  out_.add(at, fmt::format("{} \"{}\" is named twice", what_, name), "give each a name of its own");
  return false;
}

bool Names::check(const std::string& name, const Node& at) const
{
  if (std::find(names_.begin(), names_.end(), name) != names_.end()) return true;
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

  std::map<std::string, const Node*> given;
  if (hosts != nullptr && !hosts->sequence())
    out.add(*hosts, fmt::format("hosts is a list, not {}", describe(*hosts)),
            "for example [client, server]");
  for (const Node& item :
       hosts != nullptr && hosts->sequence() ? hosts->items : std::vector<Node>{}) {
    Host host;
    host.down = shape;
    if (item.mapping()) {
      Reader host_reader(item, host_table(), out);
      host_reader.into("name", host.name);
      read_sides(host_reader, host, given, shape, out);
    } else if (item.scalar() && is_name(item.text)) {
      host.name = item.text;
    } else {
      out.add(item, fmt::format("a host is a name, not {}", describe(item)),
              "a name is a letter and then at most 31 letters, digits, - and _");
    }
    if (host.name.empty()) continue;
    if (host.name == "fabric")
      out.add(item, "a host can't be named \"fabric\"",
              "the namespace between the hosts has this name");
    else if (names.declare(host.name, item))
      topology.hosts.push_back(std::move(host));
  }
  if (hosts != nullptr && hosts->sequence()) {
    if (hosts->items.size() < 2)
      out.add(*hosts, "a lab has two hosts or more", "for example [client, server]");
    if (hosts->items.size() > max_hosts)
      out.add(*hosts, fmt::format("{} hosts are too many", hosts->items.size()),
              fmt::format("at most {}", max_hosts));
  }

  if (links == nullptr) return;
  if (!links->mapping()) {
    out.add(*links, fmt::format("links is a mapping from hosts, not {}", describe(*links)),
            "for example {server: {down: {rate: 100mbit}}}");
    return;
  }
  for (std::size_t i = 0; i < links->keys.size(); ++i) {
    const Node& key = links->keys[i];
    if (!key.scalar()) {
      out.add(key, fmt::format("a key is a host's name, not {}", describe(key)));
      continue;
    }
    if (!names.check(key.text, key)) continue;
    const auto host = std::find_if(topology.hosts.begin(), topology.hosts.end(),
                                   [&](const Host& h) { return h.name == key.text; });
    Reader side_reader(links->items[i], sides_table(), out);
    read_sides(side_reader, *host, given, shape, out);
    const auto same = [&](const Node& k) { return k.text == key.text; };
    if (std::count_if(links->keys.begin(), links->keys.begin() + static_cast<std::ptrdiff_t>(i),
                      same) != 0)
      out.add(key, fmt::format("key \"{}\" stands here twice", key.text), "remove one of the two");
  }
}

} // namespace rdmalab::lab
