#pragma once

#include "lab/lab.h"

#include <cstdint>
#include <string>
#include <vector>

/// Which way a traffic's payload goes, and what stands in its way there.
namespace rdmalab::analysis {

/// One direction of the cable between two hosts, unfaulted.
struct Path {
  std::uint64_t rate_bps = 0; ///< the narrowest on the way; 0: not limited
  std::uint64_t delay_ns = 0; ///< one way, propagation only
};
Path path_between(const lab::Lab& lab, const std::string& source, const std::string& sink);

/// Does the fault meet packets that go from source to sink? One with both ends named meets just
/// those; one with only `from` meets all that this host sends, and so on.
bool meets(const lab::Fault& fault, const std::string& source, const std::string& sink);

/// Base round-trip time: propagation both ways, and the time that one full data packet and one
/// acknowledgement take on the wire. No queueing. ns.
std::uint64_t round_trip_ns(const lab::Lab& lab, const lab::Traffic& traffic,
                            std::uint64_t data_frame_bytes);

/// The groups in which traffics run: the lab's, or each traffic on its own.
std::vector<std::vector<std::string>> groups_of(const lab::Lab& lab);

} // namespace rdmalab::analysis
