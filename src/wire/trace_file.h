#pragma once

#include "base/fd.h"
#include "base/result.h"
#include "wire/trace.h"

#include <string>
#include <string_view>

/// A Trace as a pcapng file that Wireshark reads, and back. Each host has two interfaces, "HOST
/// entered" and "HOST arrived"; a packet that a rule hit carries the comment "ACTION by rule NAME".
namespace rdmalab::wire {

/// "drop", "forge" …; "" for none.
std::string_view to_string(FaultAction action);

/// Writes a whole file. `about` becomes the section's comment.
Status write_trace(Fd file, const std::string& what, const Trace& trace, std::string_view about);

/// The trace in the text of such a file; its packets' bytes point into the text. Rules are numbered
/// in the order in which their names appear.
Result<Trace> read_trace(std::string_view text, const std::string& what);

} // namespace rdmalab::wire
