#pragma once

#include "analysis/result.h"
#include "record/record.h"

#include <string>

namespace rdmalab::analysis {

/// From what share of the link's payload rate on the link is called the limit.
inline constexpr double link_limited = 0.95;
/// From what share of the window on the busy CPU is called the limit.
inline constexpr double core_limited = 0.97;
/// How near to bytes-in-flight / round trip a goodput has to be for the window to be the limit.
inline constexpr double window_tolerance = 0.15;

/// What held this traffic's baseline back, in the order link, core, window. The link counts as full
/// when the traffics that share it and run together fill it. Nothing if there is no baseline.
std::optional<Limit> limit_of(const record::Record& record, const lab::Traffic& traffic);

} // namespace rdmalab::analysis
