#pragma once

#include "lab/document.h"
#include "lab/lab.h"
#include "lab/reader.h"

#include <map>
#include <string>
#include <vector>

/// The parser's parts, one a section of the file. Each fills its share of the Lab and reports what
/// is wrong.
namespace rdmalab::lab {

/// Names of one kind of thing, each once.
class Names {
public:
  Names(std::string what, Diagnostics& out) : what_(std::move(what)), out_(out) {}
  /// Reports a name that is taken.
  bool declare(const std::string& name, const Node& at);
  /// Something among the declarations was wrong and is reported: check() is silent from now on, so
  /// that one mistake is one message.
  void distrust() { trusted_ = false; }
  [[nodiscard]] bool trusted() const { return trusted_; }
  /// Reports a name that is not declared, with the nearest one.
  bool check(const std::string& name, const Node& at) const;
  [[nodiscard]] bool has(const std::string& name) const;
  [[nodiscard]] const std::vector<std::string>& all() const { return names_; }

private:
  std::string what_;
  Diagnostics& out_;
  std::vector<std::string> names_;
  bool trusted_ = true;
};

/// Bytes that a traffic may have in flight: both ends of it live in one guest's memory.
inline constexpr std::uint64_t most_bytes_in_flight = 64 << 20;

void read_topology(const Node& node, Topology& topology, Names& names, Diagnostics& out);
void read_traffic(const Node& node, Lab& lab, const Names& hosts, Names& traffics,
                  Diagnostics& out);
class Reader;
/// The keys of kind verbs.
void read_verbs(Reader& reader, Traffic& traffic, std::uint32_t interface_mtu, Diagnostics& out);
void read_groups(const Node* node, Lab& lab, const Names& traffics, Diagnostics& out);
void read_faults(const Node& node, Lab& lab, const Names& hosts, Diagnostics& out);
/// After traffic, faults and measure: a rule is checked against what the traffic can send.
void read_rules(const Node& node, Lab& lab, const Names& traffics, Diagnostics& out);
void read_trace(const Node& node, Lab& lab, Diagnostics& out);
/// After rules, to which it adds what events do to packets, and trace, which it needs.
void read_events(const Node& node, Lab& lab, const Names& traffics, Diagnostics& out);
/// Call these last: the expressions' names are checked against the rest of the lab, if that is
/// good; otherwise names might be missing for a reason that is reported already.
void read_expectations(const Node& node, Lab& lab, bool rest_is_good, Diagnostics& out);
void read_claims(const Node& node, Lab& lab, bool rest_is_good, Diagnostics& out);
void read_conclusion(const Node& node, Lab& lab, bool rest_is_good, Diagnostics& out);
/// After faults.
void read_sweep(const Node& node, Lab& lab, Diagnostics& out);

/// Reports what is wrong with a rule by itself, for its traffic (null: unknown, and reported), and
/// behind the rules that the lab already has.
void check_rule(const Reader& reader, const Node& node, const Rule& rule, const Lab& lab,
                const Traffic* traffic, Diagnostics& out);
/// "7", "7..9", "7..", or a list of these.
std::vector<Span> read_spans(const Node* node, const Key& key, Diagnostics& out);
/// Packet classes that a traffic can have on the wire.
std::vector<std::string> classes_of(const Traffic& traffic);

/// The InfiniBand MTU of an interface: the largest power of two from 256 to 4096 that leaves room
/// for 80 bytes of headers (Linux, drivers/infiniband/sw/rxe/rxe_param.h); 0 if there is none.
std::uint32_t ib_mtu(std::uint32_t interface_mtu);

} // namespace rdmalab::lab
