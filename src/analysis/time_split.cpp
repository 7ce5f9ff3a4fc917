#include "analysis/time_split.h"

#include "base/wide.h"

#include <algorithm>
#include <array>
#include <utility>

namespace rdmalab::analysis {
namespace {

constexpr std::size_t wire_states = 5;

/// ppm of each, rounded so that they add up to a million: the largest remainders get what is left.
std::array<std::uint32_t, wire_states> shares_of(const std::array<std::uint64_t, wire_states>& ns,
                                                 std::uint64_t whole)
{
  std::array<std::uint32_t, wire_states> ppm{};
  if (whole == 0) return ppm;
  std::array<std::pair<std::uint64_t, std::size_t>, wire_states> rest;
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < wire_states; ++i) {
    const auto scaled = static_cast<Wide>(ns.at(i)) * 1'000'000U;
    ppm.at(i) = static_cast<std::uint32_t>(scaled / whole);
    rest.at(i) = {static_cast<std::uint64_t>(scaled % whole), i};
    sum += ppm.at(i);
  }
  std::ranges::sort(rest, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  for (std::size_t i = 0; sum < 1'000'000; ++i, ++sum) ++ppm.at(rest.at(i % wire_states).second);
  return ppm;
}

} // namespace

TrafficTime split_window(std::string traffic, std::span<const StateSpan> spans,
                         std::uint64_t begin_ns, std::uint64_t end_ns)
{
  struct Edge {
    std::uint64_t at;
    std::size_t state;
    int step;
  };
  std::vector<Edge> edges;
  for (const StateSpan& s : spans) {
    const std::uint64_t from = std::max(s.begin_ns, begin_ns);
    const std::uint64_t to = std::min(s.end_ns, end_ns);
    if (from >= to) continue;
    edges.push_back({from, static_cast<std::size_t>(s.state), 1});
    edges.push_back({to, static_cast<std::size_t>(s.state), -1});
  }
  std::ranges::sort(edges, {}, &Edge::at);

  TrafficTime result;
  result.traffic = std::move(traffic);
  result.window_ns = end_ns > begin_ns ? end_ns - begin_ns : 0;
  std::array<std::uint64_t, wire_states> ns{};
  std::array<int, wire_states> open{};
  open.back() = 1; // other: whatever nothing else claims
  std::uint64_t now = begin_ns;
  const auto advance = [&](std::uint64_t to) {
    const auto state = std::ranges::find_if(open, [](int n) { return n > 0; });
    ns.at(static_cast<std::size_t>(state - open.begin())) += to - now;
    now = to;
  };
  for (const Edge& e : edges) {
    advance(e.at);
    open.at(e.state) += e.step;
  }
  if (end_ns > now) advance(end_ns);

  const auto ppm = shares_of(ns, result.window_ns);
  const std::array<TimeShare*, wire_states> to{&result.link, &result.replay, &result.nak_wait,
                                               &result.timer_wait, &result.other};
  for (std::size_t i = 0; i < wire_states; ++i) *to.at(i) = {ns.at(i), ppm.at(i)};
  return result;
}

} // namespace rdmalab::analysis
