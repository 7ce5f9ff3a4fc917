#pragma once

#include "analysis/problem.h"
#include "record/record.h"

#include <string>
#include <string_view>
#include <vector>

/// Did the run measure what it claims to have measured? What fails here makes the Result invalid.
namespace rdmalab::analysis {

struct Proof {
  Problems problems;
  std::vector<std::string> notes;
};

/// All of these, for every cell:
/// - each traffic × condition × repeat that the lab asks for is there, once, and has a window;
/// - no cell reports a problem of its own; no kernel splat;
/// - offloads are off, as read back, unless the lab wants them;
/// - at the receiver's port (or behind the sender's) at least the packets passed that the delivered
/// payload needs, with the
///   bytes that these have: the traffic crossed the fabric;
/// - no queue overflowed, unless the lab asks for a small one; no packet was lost without a fault;
/// - payload was checked, and none was wrong unless a fault corrupts packets;
/// - every baseline flow ended as the lab expects, well unless it says otherwise, and delivered
/// something. A *faulted* flow that broke is a
/// result, not a fault of the
///   proof: broken_flows() and judge it by the expectations.
Proof prove(const record::Record& record);

/// Is this line of the kernel's log the sign of a kernel bug (WARN, BUG, oops, stall …)?
bool is_splat(std::string_view line);

} // namespace rdmalab::analysis
