#pragma once

#include "analysis/problem.h"
#include "analysis/result.h"
#include "record/record.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// Requested against applied against observed.
namespace rdmalab::analysis {

struct FaultFindings {
  std::vector<FaultResult> faults; ///< in the lab's order
  Problems problems;
  std::vector<std::string> notes;
};

/// One FaultResult per fault of the lab, from the counts of all faulted cells together: one test
/// per fault, however many repeats there are.
///
/// Two gates. A requested share outside the 99 % (Wilson) interval of the observed one makes the
/// fault inconsistent and is noted; chance does that once in a hundred runs, so a sweep would meet
/// it often. Only a difference that chance brings about once in a million makes the run invalid.
/// Requested against applied knows no chance and must agree to 1 ppm.
FaultFindings judge_faults(const record::Record& record);

/// Losses in a Gilbert-Elliott channel come in bursts, so n packets say less than n independent
/// ones: by this factor,
///   1 + 2·λ/(1−λ) · (b−g)²·π_B·π_G / (m·(1−m)),  λ = 1−p−r,
/// with m the mean loss and π the stationary shares of the two states. 1 for a channel that never
/// changes state.
double burst_variance_inflation(const lab::Fault& fault);
/// Mean loss of that channel, ppm: (p·bad + r·good) / (p + r), the good state's if it is never
/// left.
std::uint64_t burst_mean_ppm(std::uint64_t p_ppm, std::uint64_t r_ppm, std::uint64_t bad_ppm,
                             std::uint64_t good_ppm);

/// Cells of one repeat have one seed, so that packet number i of each meets the same draw of netem:
/// where c_i cells have a packet i, n packets say less than n independent ones by Σ c_i² / Σ c_i.
/// `trials`: packets of each cell, by the cells' seed.
double shared_draws_inflation(const std::map<std::uint64_t, std::vector<std::uint64_t>>& trials);

} // namespace rdmalab::analysis
