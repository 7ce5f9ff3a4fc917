#include "analysis/sweep.h"

#include "base/json.h"
#include "base/units.h"

#include <spdlog/fmt/fmt.h>

namespace rdmalab::analysis {

RDMALAB_JSON(CurvePoint, rate_ppm, retention)
RDMALAB_JSON(Curve, traffic, kind, baseline_bps, points)
RDMALAB_JSON(SweepResult, version, lab, fault, kind, environment, wall_seconds, curves,
             record_digests, problems)

SweepResult begin_sweep(const lab::Lab& lab)
{
  SweepResult sweep;
  sweep.lab = lab.name;
  sweep.fault = lab.sweep.fault;
  for (const lab::Fault& fault : lab.faults)
    if (fault.name == lab.sweep.fault) sweep.kind = Json(fault.kind).get<std::string>();
  return sweep;
}

void add_point(SweepResult& sweep, std::uint64_t rate_ppm, const Result& result)
{
  sweep.environment = result.environment;
  sweep.wall_seconds += result.timing.wall_seconds;
  sweep.record_digests.push_back(result.record_digest);
  for (const std::string& problem : result.problems)
    sweep.problems.push_back(fmt::format("at {}: {}", units::format_share(rate_ppm), problem));
  for (const TrafficResult& t : result.traffic) {
    Curve* curve = nullptr;
    for (Curve& known : sweep.curves)
      if (known.traffic == t.name) curve = &known;
    if (curve == nullptr) {
      sweep.curves.push_back({t.name, t.kind, t.baseline ? t.baseline->goodput_bps : 0, {}});
      curve = &sweep.curves.back();
    }
    curve->points.push_back({rate_ppm, t.retention});
  }
}

} // namespace rdmalab::analysis
