#pragma once

#include "analysis/samples.h"
#include "lab/lab.h"

#include <string>
#include <string_view>
#include <vector>

/// How traffics end, against how the lab expects them to.
namespace rdmalab::analysis {

/// What the lab expects under a condition: "ok", or the traffic's `ends`.
std::string expected_end(const lab::Lab& lab, const lab::Traffic& traffic,
                         std::string_view condition);

/// Whether a flow ended in this way: "ok", the step that failed, or the failure's name.
bool ended(const record::Flow& flow, const std::string& how);

/// "completion 3: IBV_WC_RETRY_EXC_ERR", with what was expected if that was something else than ok.
std::string unexpected_words(const record::Flow& flow, const std::string& expected);

/// Outcomes of the traffic's faulted flows that ended otherwise than expected, each once.
std::vector<std::string> broken_flows(const record::Record& record, const lab::Traffic& traffic);

/// Outcomes other than "ok" that the lab expects, in both conditions, each once.
std::vector<std::string> foreseen_ends(const record::Record& record, const lab::Traffic& traffic);

} // namespace rdmalab::analysis
