#pragma once

#include "analysis/sequence.h"

#include <string>

namespace rdmalab::report {

/// A recovery as a sequence diagram in SVG 1.1: self-contained, no scripts, no fonts of its own,
/// every name escaped. Time goes down; arrows slant from when a packet was sent to when it arrived,
/// runs are bands, and silence is cut short with a mark. A step of the picture is an event, not a
/// time: pauses of seconds and gaps of microseconds both stay readable. The times stand beside it.
std::string ladder_svg(const analysis::Sequence& sequence);

} // namespace rdmalab::report
