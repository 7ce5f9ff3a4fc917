#pragma once

#include "lab/lab.h"

#include <cstdint>
#include <optional>
#include <string>

namespace rdmalab::traffic {

/// What the program printed of itself, in bits/s, ns or matches (lab/figure_unit.h). A count of
/// none is one; any other figure has to be there, and to be a number.
std::optional<std::uint64_t> printed_figure(const std::string& text, const lab::Command& command);

} // namespace rdmalab::traffic
