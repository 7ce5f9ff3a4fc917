#include "fault/flow_table.h"
#include "fault/placement.h"
#include "fault/programs.h"
#include "fault/programs_state.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <tuple>

#include <spdlog/fmt/fmt.h>
#include <sys/mman.h>
#include <unistd.h>

/// What passes between the books in the kernel and their C++ form: flows, arm, ledger, trace.
namespace rdmalab::fault {

namespace {

/// An array map's values as they lie in memory, unmapped when it dies.
class MappedArray {
public:
  static Result<MappedArray> map(const bpf_map* map, int protection = PROT_READ)
  {
    const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t value = (bpf_map__value_size(map) + std::size_t{7}) & ~std::size_t{7};
    const std::size_t bytes = value * bpf_map__max_entries(map);
    const std::size_t length = (bytes + page - 1) / page * page;
    void* at = ::mmap(nullptr, length, protection, MAP_SHARED, bpf_map__fd(map), 0);
    if (at == MAP_FAILED)
      return system_error(fmt::format("map {} of the fault programs", bpf_map__name(map)));
    return MappedArray(at, length);
  }
  MappedArray(MappedArray&& other) noexcept
      : at_(std::exchange(other.at_, nullptr)), length_(other.length_)
  {}
  MappedArray(const MappedArray&) = delete;
  MappedArray& operator=(const MappedArray&) = delete;
  MappedArray& operator=(MappedArray&&) = delete;
  ~MappedArray()
  {
    if (at_ != nullptr) ::munmap(at_, length_);
  }
  void clear() const { std::memset(at_, 0, length_); }
  [[nodiscard]] wire::Bytes bytes() const { return {static_cast<const std::byte*>(at_), length_}; }

private:
  MappedArray(void* at, std::size_t length) : at_(at), length_(length) {}
  void* at_;
  std::size_t length_;
};

/// All entries of a hash map.
template <typename Key, typename Value, typename Fn> void for_each(const bpf_map* map, Fn&& fn)
{
  const int fd = bpf_map__fd(map);
  Key key{};
  Key next{};
  for (Key* from = nullptr; bpf_map_get_next_key(fd, from, &next) == 0; from = &key) {
    key = next;
    Value value{};
    if (bpf_map_lookup_elem(fd, &key, &value) == 0) fn(key, value);
  }
}

template <typename Key> void clear(const bpf_map* map)
{
  const int fd = bpf_map__fd(map);
  Key key{};
  while (bpf_map_get_next_key(fd, nullptr, &key) == 0 && bpf_map_delete_elem(fd, &key) == 0) {
  }
}

fault_stream_key stream_key(const FlowKey& flow)
{
  return {htobe16(flow.source_port), htobe16(flow.destination_port), flow.from, flow.to, {}};
}

/// Where the flow's numbers begin; nothing for a TCP stream whose SYN was not seen.
std::optional<std::uint32_t> first_of(const bpf_map* streams, const FlowKey& flow)
{
  if (flow.transport != Transport::tcp) return flow.first_psn;
  const fault_stream_key key = stream_key(flow);
  std::uint32_t first = 0;
  if (bpf_map_lookup_elem(bpf_map__fd(streams), &key, &first) != 0) return {};
  return first;
}

Status check(const FlowKey& flow, std::size_t hosts)
{
  if (flow.from >= hosts || flow.to >= hosts || flow.from == flow.to)
    return system_error(
        EINVAL, fmt::format("enter flow {} from host {} to {}", flow.name, flow.from, flow.to));
  return {};
}

} // namespace

Status Programs::set_flows(const std::vector<FlowKey>& flows)
{
  if (flows.size() > +FAULT_FLOWS)
    return system_error(E2BIG, fmt::format("enter {} flows", flows.size()), Exit::setup,
                        fmt::format("at most {} are possible", +FAULT_FLOWS));
  auto& skeleton = *state_->skeleton;
  std::vector<fault_flow_slot> slots;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const FlowKey& flow = flows[i];
    TRY(check(flow, state_->ports.size()));
    skeleton.bss->flows[i] = {flow.identity, flow.ordinal, 0, 0, 0, 0, 0};
    const auto first = first_of(skeleton.maps.streams, flow);
    slots.push_back({flow_key(flow), first.value_or(0), static_cast<std::uint16_t>(i + 1),
                     static_cast<std::uint16_t>(first ? 1 : 0)});
  }
  TRY_ASSIGN(const FlowTable table, make_flow_table(slots));
  skeleton.data->flow_factor = table.factor;
  std::ranges::copy(table.slots, skeleton.bss->flow_slots);
  state_->flows = flows;
  return {};
}

Status Programs::State::clear_books()
{
  auto& globals = *skeleton->bss;
  std::memset(globals.counters, 0, sizeof(globals.counters));
  std::memset(globals.states, 0, sizeof(globals.states));
  std::memset(globals.stashes, 0, sizeof(globals.stashes));
  globals.stashed = 0;
  globals.trace_used = 0;
  globals.firings_used = 0;
  globals.lost_effects = globals.lost_transmissions = globals.lost_streams = 0;
  for (fault_flow& flow : globals.flows) flow.data_packets = 0;
  clear<fault_effect_key>(skeleton->maps.effects);
  if (globals.transmissions_used != 0) {
    TRY_ASSIGN(const MappedArray counted,
               MappedArray::map(skeleton->maps.transmissions, PROT_READ | PROT_WRITE));
    counted.clear();
    globals.transmissions_used = 0;
  }
  return {};
}

Status Programs::arm(std::uint64_t start_ns, bool trace)
{
  disarm();
  for (std::size_t i = 0; i < state_->rules.size(); ++i)
    if (const auto& flow = state_->rules[i].flow; flow && *flow >= state_->flows.size())
      return usage_error(
          fmt::format("fault rule {}: there is no flow {}", state_->rules[i].name, *flow));
  TRY(state_->clear_books());
  auto& globals = *state_->skeleton->bss;
  globals.start_ns = start_ns;
  std::memset(globals.rules, 0, sizeof(globals.rules));
  std::ranges::copy(state_->compiled, globals.rules);
  const auto reached = reach_rules(state_->compiled, state_->flows);
  for (std::size_t i = 0; i < reached.size(); ++i) {
    globals.flows[i].kinds = reached[i].kinds;
    globals.flows[i].from = reached[i].from;
    globals.flows[i].to = reached[i].to;
  }
  const auto placed = place_rules(state_->compiled, state_->flows, state_->ports.size());
  globals.tracing = trace && trace_records(state_->options) != 0 ? 1 : 0;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    const std::uint32_t ifindex = globals.ports[i].ifindex;
    globals.ports[i] = placed[i];
    globals.ports[i].ifindex = ifindex;
  }
  return {};
}

void Programs::disarm()
{
  auto& globals = *state_->skeleton->bss;
  for (fault_port& port : globals.ports) port.rule_count = 0;
  globals.tracing = 0;
}

namespace {

void read_counts(const fault_bpf& skeleton, Ledger& ledger)
{
  const auto& counters = skeleton.bss->counters;
  const std::size_t hosts = ledger.hosts.size();
  constexpr std::size_t stride = std::size_t{FAULT_HOSTS} * FAULT_HOSTS * FAULT_CLASSES;
  ledger.counts.resize(hosts * hosts * packet_kinds);
  for (std::size_t from = 0; from < hosts; ++from) {
    for (std::size_t to = 0; to < hosts; ++to) {
      for (std::size_t kind = 0; kind < packet_kinds; ++kind) {
        const std::size_t at = (from * FAULT_HOSTS + to) * FAULT_CLASSES + kind;
        ledger.at(from, to, static_cast<PacketKind>(kind)) = {
            counters[FAULT_SENT * stride + at], counters[FAULT_PASSED * stride + at],
            counters[FAULT_ARRIVED * stride + at]};
      }
    }
  }
}

void read_effects(const fault_bpf& skeleton, Ledger& ledger)
{
  std::map<std::tuple<std::uint8_t, std::uint8_t, std::uint8_t, std::uint8_t>, RuleEffect> sums;
  for_each<fault_effect_key, std::uint64_t>(
      skeleton.maps.effects, [&sums](const fault_effect_key& key, std::uint64_t count) {
        RuleEffect& sum = sums[{key.rule, key.from, key.to, key.kind}];
        sum.rule = key.rule;
        sum.from = key.from;
        sum.to = key.to;
        sum.kind = static_cast<PacketKind>(key.kind);
        if (key.effect == +FAULT_DUPLICATED) sum.duplicated += count;
        if (key.effect == +FAULT_DROPPED || key.effect == +FAULT_HELD) sum.dropped += count;
        if (key.effect == +FAULT_RELEASED) sum.dropped -= count;
        if (key.effect == +FAULT_HELD) sum.held_at_end += count;
        if (key.effect == +FAULT_RELEASED) sum.held_at_end -= count;
      });
  for (const auto& [key, sum] : sums) ledger.effects.push_back(sum);
}

Firing firing_of(const fault_firing& from, std::uint64_t start_ns)
{
  Firing to;
  to.time_ns = from.time > start_ns ? from.time - start_ns : 0;
  to.rule = from.rule;
  if (from.flow != FAULT_NO_FLOW) to.flow = from.flow;
  to.kind = static_cast<PacketKind>(from.kind);
  to.opcode = from.opcode;
  to.sequence = from.sequence;
  to.relative = from.relative;
  to.transmission = from.transmission;
  to.wire_length = from.wire_length;
  to.from = from.from;
  to.to = from.to;
  return to;
}

} // namespace

Result<Ledger> Programs::ledger() const
{
  const auto& skeleton = *state_->skeleton;
  const auto& globals = *skeleton.bss;
  Ledger ledger;
  for (const Port& port : state_->ports) ledger.hosts.push_back(port.host);
  read_counts(skeleton, ledger);
  read_effects(skeleton, ledger);
  for (std::size_t i = 0; i < state_->rules.size(); ++i) {
    const fault_rule_state& rule = globals.states[i];
    ledger.rules.push_back({rule.matched, rule.fired, rule.failed, rule.busy, rule.unknown});
  }
  TRY_ASSIGN(const MappedArray firings, MappedArray::map(skeleton.maps.firings));
  const std::uint64_t kept = std::min<std::uint64_t>(globals.firings_used, state_->options.firings);
  for (std::uint64_t i = 0; i < kept; ++i) {
    fault_firing one{};
    std::memcpy(&one, firings.bytes().data() + i * sizeof(one), sizeof(one));
    ledger.firings.push_back(firing_of(one, globals.start_ns));
  }
  ledger.lost_firings = globals.firings_used - kept;
  ledger.lost_updates = globals.lost_effects + globals.lost_transmissions + globals.lost_streams;
  return ledger;
}

Result<RawTrace> Programs::raw_trace() const
{
  const auto& skeleton = *state_->skeleton;
  const std::uint64_t slots = trace_records(state_->options);
  const std::uint64_t used = skeleton.bss->trace_used;
  RawTrace raw{skeleton.bss->start_ns,
               sizeof(fault_record) + state_->options.snap,
               used > slots ? used - slots : 0,
               {}};
  if (slots != 0) {
    TRY_ASSIGN(const MappedArray records, MappedArray::map(skeleton.maps.trace));
    raw.records = wire::text_of(records.bytes().first(std::min(used, slots) * raw.record_bytes));
  }
  return raw;
}

Result<CapturedTrace> Programs::take_trace() const
{
  TRY_ASSIGN(const RawTrace raw, raw_trace());
  CapturedTrace captured =
      decode_trace(wire::bytes_of(raw.records), raw.record_bytes, raw.start_ns);
  for (const Port& port : state_->ports) captured.trace.hosts.push_back(port.host);
  for (const Rule& rule : state_->rules) captured.trace.rules.push_back(rule.name);
  captured.trace.lost = raw.lost;
  return captured;
}

} // namespace rdmalab::fault
