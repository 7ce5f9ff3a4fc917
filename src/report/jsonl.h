#pragma once

#include "analysis/result.h"
#include "record/record.h"

#include <string>

/// Events, one JSON document a line: {"event": "cell", …} for each cell, then {"event": "result",
/// …}.
namespace rdmalab::report {

/// A cell as it comes in: id, condition, repeat, and per flow goodput, messages and outcome.
std::string jsonl_cell(const record::Cell& cell);
/// The last line: the whole Result under "result".
std::string jsonl_result(const analysis::Result& result);
/// All lines of a run.
std::string jsonl(const record::Record& record, const analysis::Result& result);

} // namespace rdmalab::report
