#pragma once

#include "analysis/result.h"
#include "cli/command.h"
#include "record/record.h"

#include <filesystem>
#include <string>
#include <vector>

/// What `run` and `report` make of Records and their Results.
namespace rdmalab::cli {

struct OutputOptions {
  bool jsonl = false;
  bool strict = false;
  std::string junit; ///< files; empty: not wanted
  std::string markdown;
  std::string html;
};

/// Adds --jsonl, --junit, --markdown, --html and --strict.
void add_output_options(CLI::App& command, OutputOptions& options);

/// Error (usage): formats that exclude one another, or --html for several labs.
Status check_output_options(const Context& context, const OutputOptions& options, std::size_t labs);

/// One lab's run: what was measured and what it says.
struct Outcome {
  record::Record record;
  analysis::Result result;
};

/// Writes the files, then stdout: a table, or with --json the Result (of several labs:
/// {"version", "results"}), or with --jsonl lines. `cells_printed`: the lines of the cells went out
/// while they were measured. Gives the exit status of the worst Result.
rdmalab::Result<Exit> write_outputs(Context& context, const OutputOptions& options,
                                    const std::vector<Outcome>& outcomes,
                                    bool cells_printed = false);

/// The exit status that counts of several: a broken run outranks a failed expectation, that one
/// outranks an inconclusive one.
Exit worse(Exit a, Exit b);

/// Reads a stored Record. Error (usage): no such file, no JSON, no Record of a known version.
Result<record::Record> read_record(const std::filesystem::path& path);

/// Reads a Result from what `run --json` printed, or makes it from a stored Record.
Result<analysis::Result> read_result(const std::filesystem::path& path);

} // namespace rdmalab::cli
