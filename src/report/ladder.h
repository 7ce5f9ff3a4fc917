#pragma once

#include "analysis/sequence.h"
#include "report/style.h"

#include <cstdint>
#include <string>

namespace rdmalab::report {

/// A recovery as a sequence diagram in text: an arrow a line, times in us since the first loss at
/// both sides, silence as a line of its own; at most 40 lines, those in the middle are left out.
std::string ladder(const analysis::Sequence& sequence, const Style& style);

/// What stands on an arrow: "WRITE middle 17", "WRITE 18 … 74, 57 packets, thrown away".
std::string step_words(const analysis::SequenceStep& step);
/// A pause worth a mark: longer than a quarter of the diagram and than 100 us, ns.
std::int64_t pause_of(const analysis::Sequence& sequence);
/// us with one digit behind the point: "-0.4", "16777.2".
std::string us_words(std::int64_t ns);

} // namespace rdmalab::report
