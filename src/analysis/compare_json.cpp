#include "analysis/compare.h"
#include "base/json.h"

namespace rdmalab::analysis {

RDMALAB_JSON_ENUM(Change, {{Change::improved, "improved"},
                           {Change::noise, "noise"},
                           {Change::regressed, "regressed"},
                           {Change::inconclusive, "inconclusive"}})
RDMALAB_JSON(FigureChange, traffic, figure, unit, before, after, before_low, before_high, after_low,
             after_high, relative, change)
RDMALAB_JSON(Comparison, version, lab, clock, before_digest, after_digest, change, figures, notes)

} // namespace rdmalab::analysis
