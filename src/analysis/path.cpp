#include "analysis/path.h"

#include "base/wide.h"

#include <algorithm>

namespace rdmalab::analysis {
namespace {

/// 0 means no limit, so the narrower of two is not simply the smaller.
std::uint64_t narrower(std::uint64_t a, std::uint64_t b)
{
  if (a == 0 || b == 0) return std::max(a, b);
  return std::min(a, b);
}

std::uint64_t serialisation_ns(std::uint64_t bytes, std::uint64_t rate_bps)
{
  if (rate_bps == 0) return 0;
  return static_cast<std::uint64_t>(static_cast<Wide>(bytes) * 8 * 1'000'000'000 / rate_bps);
}

} // namespace

Path path_between(const lab::Lab& lab, const std::string& source, const std::string& sink)
{
  Path path;
  const lab::Host* sender = find_host(lab, source);
  if (sender != nullptr && sender->up) {
    path.rate_bps = sender->up->rate_bps;
    path.delay_ns = sender->up->delay_ns;
  }
  if (const lab::Host* receiver = find_host(lab, sink); receiver != nullptr) {
    path.rate_bps = narrower(path.rate_bps, receiver->down.rate_bps);
    path.delay_ns += receiver->down.delay_ns;
  }
  return path;
}

bool meets(const lab::Fault& fault, const std::string& source, const std::string& sink)
{
  return (!fault.from || *fault.from == source) && (!fault.to || *fault.to == sink);
}

std::uint64_t round_trip_ns(const lab::Lab& lab, const lab::Traffic& traffic,
                            std::uint64_t data_frame_bytes)
{
  // An RC acknowledgement and a bare TCP one with time stamps are both within a few bytes of 66.
  constexpr std::uint64_t ack_frame_bytes = 66;
  const Path there = path_between(lab, data_source(traffic), data_sink(traffic));
  const Path back = path_between(lab, data_sink(traffic), data_source(traffic));
  return there.delay_ns + back.delay_ns + serialisation_ns(data_frame_bytes, there.rate_bps) +
         serialisation_ns(ack_frame_bytes, back.rate_bps);
}

std::vector<std::vector<std::string>> groups_of(const lab::Lab& lab)
{
  if (!lab.groups.empty()) return lab.groups;
  std::vector<std::vector<std::string>> groups;
  for (const lab::Traffic& t : lab.traffic) groups.push_back({t.name});
  return groups;
}

} // namespace rdmalab::analysis
