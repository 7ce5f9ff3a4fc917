#pragma once

#include "record/record.h"

#include <cstdint>
#include <string_view>
#include <vector>

/// Looking things up in a Record.
namespace rdmalab::analysis {

inline constexpr std::string_view baseline = "baseline";
inline constexpr std::string_view faulted = "faulted";
inline constexpr std::string_view with_path = "path"; ///< a baseline with the path ledger

/// One traffic in one repeat. Points into the Record, which has to outlive it.
struct Sample {
  const record::Cell* cell;
  const record::Flow* flow;
};
/// The traffic's samples under a condition, in the Record's order.
std::vector<Sample> samples_of(const record::Record& record, std::string_view traffic,
                               std::string_view condition);

std::uint64_t window_ns(const Sample& sample);
/// Payload delivered to the application within the window, bits/s; 0 without a window.
double goodput_bps(const Sample& sample);
std::vector<double> goodputs(const std::vector<Sample>& samples);
/// What a program printed of itself, in the samples that have it.
std::vector<double> printed_figures(const std::vector<Sample>& samples);
/// Path MTU or MSS in force, 0 if no flow says.
std::uint32_t payload_in_force(const std::vector<Sample>& samples);

} // namespace rdmalab::analysis
