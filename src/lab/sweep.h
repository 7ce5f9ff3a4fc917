#pragma once

#include "lab/lab.h"

#include <cstdint>

namespace rdmalab::lab {

/// The lab at one point of a sweep: its fault has this rate, ppm. Expectations and claims are about
/// the lab as it stands in the file, so that a point has none.
Lab at_rate(const Lab& lab, std::uint64_t rate_ppm);

} // namespace rdmalab::lab
