#include "net/fabric.h"

#include "base/random.h"
#include "net/fabric_state.h"
#include "net/netem_message.h"

#include <algorithm>
#include <cerrno>

#include <spdlog/spdlog.h>

namespace rdmalab::net {

namespace {

/// A stream of its own for each netem; 0 would mean "no seed".
std::uint64_t seed_of(std::uint64_t seed, std::size_t shaper)
{
  return std::max<std::uint64_t>(mix64(seed, shaper), 1);
}

ImpairmentCounts count(const FabricShaper& shaper, const QdiscCounters& now)
{
  const QdiscCounters& start = shaper.start;
  ImpairmentCounts counts;
  counts.host = shaper.spec.host;
  counts.up = shaper.spec.up;
  counts.exact = now.exact;
  counts.packets = now.packets - start.packets;
  counts.bytes = now.bytes - start.bytes;
  counts.queued = now.queued_packets;
  // The kernel's drop counter has 32 bits.
  const std::uint64_t drops = static_cast<std::uint32_t>(now.drops - start.drops);
  if (now.exact) {
    counts.dropped = now.lost - start.lost;
    counts.overflowed = drops > counts.dropped ? drops - counts.dropped : 0;
    counts.duplicated = now.duplicated - start.duplicated;
    counts.reordered = now.reordered - start.reordered;
    counts.corrupted = now.corrupted - start.corrupted;
    counts.delayed = now.delayed - start.delayed;
  } else if (shaper.requested.loss_ppm != 0 || shaper.requested.gilbert_elliott) {
    counts.dropped = drops;
  } else {
    counts.overflowed = drops;
  }
  return counts;
}

} // namespace

Fabric::Fabric(std::unique_ptr<State> state) : state_(std::move(state)) {}
Fabric::Fabric(Fabric&&) noexcept = default;

Fabric& Fabric::operator=(Fabric&& other) noexcept
{
  if (this != &other) {
    (void)teardown();
    state_ = std::move(other.state_);
  }
  return *this;
}

Fabric::~Fabric()
{
  if (const Status status = teardown(); !status) spdlog::warn("{}", status.error().message());
}

Result<Fabric> Fabric::build(const FabricSpec& spec)
{
  Fabric fabric(std::make_unique<State>());
  fabric.state_->spec = spec;
  TRY(fabric.state_->build());
  return fabric;
}

Status Fabric::teardown()
{
  return state_ ? std::exchange(state_, nullptr)->teardown() : Status{};
}

Result<std::vector<AppliedNetem>> Fabric::apply(bool faulted, std::uint64_t seed)
{
  NlSocket& socket = *state_->route;
  for (std::size_t i = 0; i < state_->shapers.size(); ++i) {
    FabricShaper& shaper = *state_->shapers[i];
    shaper.requested = faulted ? shaper.spec.faulted : shaper.spec.unfaulted;
    shaper.requested.seed = seed_of(seed, i);
    TRY(set_netem(socket, QdiscVerb::change, shaper.index, shaper.requested));
  }
  TRY_ASSIGN(const auto qdiscs, read_qdiscs(socket));
  std::vector<AppliedNetem> applied;
  for (const auto& shaper : state_->shapers) {
    const QdiscState* state = find_netem(qdiscs, shaper->index);
    if (state == nullptr) return system_error(ENOENT, "read back netem on " + shaper->spec.device);
    shaper->start = state->counters;
    applied.push_back({shaper->spec.host, shaper->spec.up, shaper->requested, state->netem,
                       state->netem == effective(shaper->requested)});
  }
  return applied;
}

Result<std::vector<ImpairmentCounts>> Fabric::impairment_stats()
{
  TRY_ASSIGN(const auto qdiscs, read_qdiscs(*state_->route));
  std::vector<ImpairmentCounts> all;
  for (const auto& shaper : state_->shapers) {
    const QdiscState* state = find_netem(qdiscs, shaper->index);
    if (state == nullptr) return system_error(ENOENT, "count at netem on " + shaper->spec.device);
    all.push_back(count(*shaper, state->counters));
  }
  return all;
}

Result<HostCounters> Fabric::counters(const std::string& name)
{
  FabricHost* host = state_->find(name);
  if (host == nullptr) return system_error(ENOENT, "find host " + name);
  HostCounters counters;
  TRY_ASSIGN(LinkState device, read_link(host->route, host->spec.device, true));
  counters.device = std::move(device.statistics);
  if (host->rdma && host->spec.rdma_type == "rxe") {
    TRY_ASSIGN(counters.rdma, rdma_counters(*host->rdma, host->rdma_link.index()));
  }
  return counters;
}

std::string Fabric::netns_path(const std::string& name) const
{
  const FabricHost* host = state_->find(name);
  return host == nullptr ? std::string{} : host->ns.path();
}

std::uint64_t Fabric::netns_inode(const std::string& name) const
{
  const FabricHost* host = state_->find(name);
  return host == nullptr ? 0 : host->ns.inode();
}

std::string Fabric::fabric_path() const
{
  return state_->ns.path();
}
std::uint64_t Fabric::fabric_inode() const
{
  return state_->ns.inode();
}

std::uint32_t Fabric::port_index(const std::string& name) const
{
  const FabricHost* host = state_->find(name);
  return host == nullptr ? 0 : host->port.index();
}

std::uint32_t Fabric::device_index(const std::string& name) const
{
  const FabricHost* host = state_->find(name);
  return host == nullptr ? 0 : host->device_index;
}

const std::map<std::string, std::string>& Fabric::offloads() const
{
  return state_->offloads;
}

} // namespace rdmalab::net
