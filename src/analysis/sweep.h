#pragma once

#include "analysis/result.h"
#include "base/json_fwd.h"
#include "lab/lab.h"
#include "record/record.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// A lab at several rates of one fault: what each traffic kept, as a curve.
namespace rdmalab::analysis {

struct CurvePoint {
  std::uint64_t rate_ppm = 0;
  std::optional<Retention> retention; ///< null: the run was invalid, or nothing was delivered
};
RDMALAB_JSON_DECLARE(CurvePoint)

struct Curve {
  std::string traffic;
  std::string kind;
  std::uint64_t baseline_bps = 0; ///< payload bits/s without the fault
  std::vector<CurvePoint> points;
};
RDMALAB_JSON_DECLARE(Curve)

struct SweepResult {
  std::uint32_t version = 1;
  std::string lab;
  std::string fault;
  std::string kind; ///< of the fault
  record::Environment environment;
  double wall_seconds = 0;
  std::vector<Curve> curves;
  std::vector<std::string> record_digests; ///< of the points
  std::vector<std::string> problems;       ///< of points that prove nothing
};
RDMALAB_JSON_DECLARE(SweepResult)

SweepResult begin_sweep(const lab::Lab& lab);
/// Adds what the lab at a rate gave. Points come in the order of their rates.
void add_point(SweepResult& sweep, std::uint64_t rate_ppm, const Result& result);

} // namespace rdmalab::analysis
