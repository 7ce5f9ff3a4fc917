#pragma once

#include "analysis/result.h"
#include "base/result.h"
#include "record/record.h"

namespace rdmalab::analysis {

/// Everything that a Record says. Pure, total: a Record that proves nothing gives an invalid Result
/// with its reasons. Verdict: invalid before fail before inconclusive before pass. A lab without
/// expectations passes if it is valid.
///
/// A faulted flow that broke (QP in error, connection reset) makes the Result invalid, exit 5,
/// unless one of the lab's expectations asks for that traffic's completions: then it is a result
/// like any other, and what was delivered before it broke is its goodput.
Result analyse(const record::Record& record);

/// The program's exit status for a Result. Invalid: what Result::exit_code says (4, 5 or 7).
/// Inconclusive: 8 with `strict`, otherwise 0.
Exit exit_status(const Result& result, bool strict);

} // namespace rdmalab::analysis
