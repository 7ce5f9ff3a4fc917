#pragma once

#include "analysis/cell_recovery.h"
#include "report/style.h"

#include <string>
#include <vector>

namespace rdmalab::report {

/// The terminal report's sections on recovery: RECOVERY (a row per direction of a flow, of many
/// flows those that lost most), WINDOW (where each traffic's time went), and what the trace can't
/// say or what broke the protocol. Begins with an empty line; empty if there is nothing to say.
std::string recovery_table(const analysis::RecoveryReport& report, const Style& style);

/// "The kernel counts 12 segments of tcp sent again and 1 time-out, the trace 12 and 1."
std::string witness_sentence(const analysis::TcpWitness& witness);

/// A sentence per traffic that lost something: "roce lost 23 packets; recovered 17 times by NAK
/// (median 512 us), 6 times by timer (median 67.1 ms); 41 % of what was sent again was needless".
std::vector<std::string> recovery_sentences(const analysis::RecoveryReport& report);

} // namespace rdmalab::report
