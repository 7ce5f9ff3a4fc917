#include "fault/ledger.h"

#include "fault.h"
#include "wire/opcode.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::fault {

static_assert(static_cast<int>(PacketKind::tcp_syn) == +FAULT_TCP_SYN);
static_assert(static_cast<int>(PacketKind::other) == +FAULT_OTHER);
static_assert(packet_kinds == +FAULT_OTHER + 1);

std::string_view to_string(PacketKind kind)
{
  constexpr std::array<std::string_view, 6> names{"other-roce", "tcp-syn", "tcp-data",
                                                  "tcp-ack",    "tcp-fin", "other"};
  if (kind < PacketKind::roce_other) return wire::to_string(static_cast<wire::PacketClass>(kind));
  return names[static_cast<std::size_t>(kind) - static_cast<std::size_t>(PacketKind::roce_other)];
}

PacketCounts& Ledger::at(std::size_t from, std::size_t to, PacketKind kind)
{
  return counts[(from * hosts.size() + to) * packet_kinds + static_cast<std::size_t>(kind)];
}

const PacketCounts& Ledger::at(std::size_t from, std::size_t to, PacketKind kind) const
{
  return counts[(from * hosts.size() + to) * packet_kinds + static_cast<std::size_t>(kind)];
}

namespace {

using Signed = std::int64_t;

/// What goes in and what comes out of one stretch of the way; corruption blurs it.
struct Balance {
  Signed in = 0;
  Signed out = 0;
  Signed changed = 0; ///< by rules and netem
  Signed blurred = 0;

  [[nodiscard]] bool closes() const
  {
    const Signed missing = in + changed - out;
    return missing >= -blurred && missing <= blurred;
  }
  Balance& operator+=(const Balance& other)
  {
    in += other.in;
    out += other.out;
    changed += other.changed;
    return *this;
  }
};

class Checker {
public:
  Checker(const Ledger& ledger, std::span<const NetemCounts> netems)
      : ledger_(ledger), netems_(netems), rule_changes_(ledger.counts.size())
  {
    for (const RuleEffect& effect : ledger.effects)
      rule_changes_[index(effect.from, effect.to, effect.kind)] +=
          static_cast<Signed>(effect.duplicated) - static_cast<Signed>(effect.dropped);
  }

  std::vector<std::string> check()
  {
    for (std::size_t host = 0; host < ledger_.hosts.size(); ++host)
      for (const bool up : {true, false}) check(host, up);
    return std::move(problems_);
  }

private:
  [[nodiscard]] std::size_t index(std::size_t from, std::size_t to, PacketKind kind) const
  {
    return (from * ledger_.hosts.size() + to) * packet_kinds + static_cast<std::size_t>(kind);
  }

  /// Up: from where the host's packets come in to where they leave, else from there to where they
  /// arrive at the host.
  [[nodiscard]] Balance balance(std::size_t host, std::size_t other, PacketKind kind, bool up) const
  {
    const std::size_t at = up ? index(host, other, kind) : index(other, host, kind);
    const PacketCounts& counts = ledger_.counts[at];
    if (up)
      return {static_cast<Signed>(counts.sent), static_cast<Signed>(counts.passed),
              rule_changes_[at], 0};
    return {static_cast<Signed>(counts.passed), static_cast<Signed>(counts.arrived), 0, 0};
  }

  void check(std::size_t host, bool up)
  {
    Balance total;
    bool netem = false;
    for (const NetemCounts& each : netems_) {
      if (each.host != host || each.up != up) continue;
      total.changed += static_cast<Signed>(each.duplicated) - static_cast<Signed>(each.lost);
      total.blurred += static_cast<Signed>(each.corrupted);
      netem = netem || each.duplicated != 0 || each.lost != 0 || each.corrupted != 0;
    }
    for (std::size_t other = 0; other < ledger_.hosts.size(); ++other) {
      for (std::size_t i = 0; i < packet_kinds; ++i) {
        const auto kind = static_cast<PacketKind>(i);
        const Balance one = balance(host, other, kind, up);
        total += one;
        if (!netem && !one.closes()) report(host, other, to_string(kind), up, one);
      }
    }
    if (netem && !total.closes()) report(host, ledger_.hosts.size(), "all", up, total);
  }

  void report(std::size_t host, std::size_t other, std::string_view kind, bool up,
              const Balance& balance)
  {
    const std::string peer = other < ledger_.hosts.size() ? ledger_.hosts[other] : "all";
    const std::string& name = ledger_.hosts[host];
    problems_.push_back(
        fmt::format("{} packets from {} to {}: {} {}, {} {}, and faults explain {:+}", kind,
                    up ? name : peer, up ? peer : name, balance.in, up ? "sent" : "passed on",
                    balance.out, up ? "passed on" : "arrived", balance.changed));
  }

  const Ledger& ledger_;
  std::span<const NetemCounts> netems_;
  std::vector<Signed> rule_changes_;
  std::vector<std::string> problems_;
};

} // namespace

std::vector<std::string> check_sums(const Ledger& ledger, std::span<const NetemCounts> netems)
{
  auto problems = Checker(ledger, netems).check();
  if (ledger.lost_updates != 0)
    problems.push_back(fmt::format("{} updates of the ledger found no room", ledger.lost_updates));
  for (std::size_t i = 0; i < ledger.rules.size(); ++i)
    if (ledger.rules[i].failed != 0)
      problems.push_back(fmt::format("the kernel refused the action of rule {} {} times", i,
                                     ledger.rules[i].failed));
  return problems;
}

} // namespace rdmalab::fault
