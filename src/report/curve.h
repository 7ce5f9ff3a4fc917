#pragma once

#include "analysis/sweep.h"
#include "report/style.h"

#include <string>

namespace rdmalab::report {

/// A sweep as a table: for each traffic what it kept at each rate, and below it what the model
/// predicts.
std::string curve_table(const analysis::SweepResult& sweep, const Style& style);

/// The same as a picture in SVG 1.1, self-contained: rates on a logarithmic axis, retention from 0
/// to 100 %, bars for the 95 % interval, dashes for the prediction.
std::string curve_svg(const analysis::SweepResult& sweep);

} // namespace rdmalab::report
