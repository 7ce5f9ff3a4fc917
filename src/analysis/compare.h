#pragma once

#include "analysis/result.h"
#include "base/json_fwd.h"
#include "base/result.h"

#include <optional>
#include <string>
#include <vector>

/// Two Results of one lab, an older and a newer one.
namespace rdmalab::analysis {

enum class Change { improved, noise, regressed, inconclusive };
RDMALAB_JSON_DECLARE(Change)

/// One figure before and after. More is better for all that is compared.
struct FigureChange {
  std::string traffic;
  std::string figure; ///< "baseline goodput", "faulted goodput", "retention"
  std::string unit;   ///< "bit/s" or ""
  double before = 0;
  double after = 0;
  std::optional<double> before_low, before_high, after_low, after_high;
  std::optional<double> relative; ///< after / before − 1; absent if before is 0
  Change change = Change::inconclusive;
};
RDMALAB_JSON_DECLARE(FigureChange)

struct Comparison {
  std::uint32_t version = 1;
  std::string lab;
  std::string clock;
  std::string before_digest;
  std::string after_digest;
  Change change = Change::noise; ///< the worst of all: regressed, inconclusive, improved, noise
  std::vector<FigureChange> figures;
  std::vector<std::string> notes;
};
RDMALAB_JSON_DECLARE(Comparison)

/// Changes smaller than this are noise whatever the intervals say: on the virtual clock these have
/// no width.
inline constexpr double least_change = 0.01;
/// Where intervals overlap, a change larger than this may be real and is inconclusive, not noise.
inline constexpr double uncertain_change = 0.05;

/// Compares traffic by name. Disjoint 95 % intervals: regressed or improved; overlapping: noise, or
/// inconclusive if the values are more than `uncertain_change` apart. Without intervals (one
/// repeat) only equality within `least_change` can be told. Error (usage): different clocks, other
/// labs, an invalid Result, no traffic in common.
rdmalab::Result<Comparison> compare(const Result& before, const Result& after);

} // namespace rdmalab::analysis
