#pragma once

#include "analysis/result.h"
#include "lab/expression.h"
#include "record/record.h"

#include <string>

/// The figures that the expression language asks for (lab/expression.h).
namespace rdmalab::analysis {

/// Looks a call up. Means come with their 95 % interval over the repeats, the observed share of a
/// fault with its 99 % interval, latencies with the least and the most of the repeats; counts are
/// exact, and so is what has one repeat only. Error: why the figure does not exist. Refers to both
/// arguments, which have to outlive it.
lab::Lookup figures_of(const record::Record& record, const Result& result);

/// A figure in its unit: "0.284", "941 Mb/s", "64.3 us".
std::string figure_words(double value, lab::Dimension dimension);

} // namespace rdmalab::analysis
