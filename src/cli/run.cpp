#include "analysis/analyse.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/engine_options.h"
#include "cli/labs.h"
#include "cli/output.h"
#include "lab/parse.h"
#include "plan/planner.h"
#include "report/jsonl.h"
#include "report/ladder.h"
#include "report/ladder_svg.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <ostream>
#include <vector>

#include <CLI/CLI.hpp>
#include <spdlog/spdlog.h>

namespace rdmalab::cli {
namespace {

struct RunOptions {
  std::vector<std::string> labs;
  EngineOptions where;
  std::uint64_t seed = 0;
  std::uint32_t repeat = 0;
  std::string record; ///< file for the Record; empty: not wanted
  std::string traces; ///< folder for pcapng files; empty: not wanted
  OutputOptions output;
};

Result<plan::Plan> plan_lab(const std::string& name, const RunOptions& options)
{
  TRY_ASSIGN(lab::Lab lab, lab::load_file(find_lab(name)));
  if (options.seed != 0) lab.seed = options.seed;
  if (options.repeat != 0) lab.measure.repeat = options.repeat;
  if (!options.traces.empty()) lab.trace.on = true;
  return plan::make_plan(lab);
}

/// A pcapng file for each cell, roce-faulted-0.pcapng, and the recovery in it that tells most as a
/// ladder, .txt and .svg.
Status write_traces(const record::Record& record, const analysis::Result& result,
                    const std::string& folder)
{
  const auto path_of = [&folder](std::string id, const char* suffix) {
    std::replace(id.begin(), id.end(), '/', '-');
    return std::filesystem::path(folder) / (id + suffix);
  };
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return system_error(error.value(), "make folder " + folder, Exit::usage);
  for (const record::Cell& cell : record.cells) {
    if (cell.trace.empty()) continue;
    const std::uint64_t begin = monotonic_ns();
    TRY(write_file_atomically(path_of(cell.id, ".pcapng"), cell.trace));
    spdlog::debug("trace of {}: written in {} us", cell.id, (monotonic_ns() - begin) / 1000);
  }
  for (const analysis::CellRecovery& recovery : result.recovery) {
    if (!recovery.ladder) continue;
    TRY(write_file_atomically(path_of(recovery.cell, ".txt"),
                              report::ladder(*recovery.ladder, report::Style{})));
    TRY(write_file_atomically(path_of(recovery.cell, ".svg"),
                              report::ladder_svg(*recovery.ladder)));
  }
  return {};
}

Result<Outcome> run_lab(Context& context, const plan::Plan& plan, const RunOptions& options)
{
  const auto print_cell = [&](const record::Cell& cell) {
    if (options.output.jsonl) context.out << report::jsonl_cell(cell) << std::flush;
  };
  TRY_ASSIGN(record::Record record,
             execute_plan(context, plan, plan.lab.name, options.where, print_cell));
  analysis::Result result = analysis::analyse(record);
  if (!options.traces.empty()) TRY(write_traces(record, result, options.traces));
  for (record::Cell& cell : record.cells) cell.trace = {}; // tens of MB each
  return Outcome{std::move(record), std::move(result)};
}

Result<Exit> run(Context& context, RunOptions& options)
{
  TRY(check_output_options(context, options.output, options.labs.size()));
  if (!options.traces.empty() && options.labs.size() != 1)
    return usage_error("--trace takes one lab", "run the labs one by one");
  if (!options.record.empty() && options.labs.size() != 1)
    return usage_error("--record takes one lab", "run the labs one by one");

  // All labs are read before the first one runs: a typing error in the last shows at once.
  std::vector<plan::Plan> plans;
  for (const std::string& name : options.labs) {
    TRY_ASSIGN(plan::Plan plan, plan_lab(name, options));
    plans.push_back(std::move(plan));
  }
  catch_interrupts();
  std::vector<Outcome> outcomes;
  for (const plan::Plan& plan : plans) {
    auto outcome = run_lab(context, plan, options);
    if (!outcome) {
      // What was measured before is not lost with it; --json has room for one document, the
      // error's.
      if (!outcomes.empty() && !context.json)
        (void)write_outputs(context, options.output, outcomes, options.output.jsonl);
      return std::move(outcome).error();
    }
    outcomes.push_back(std::move(outcome).value());
  }
  if (!options.record.empty())
    TRY(write_file_atomically(options.record, to_text(outcomes.front().record) + "\n"));
  return write_outputs(context, options.output, outcomes, options.output.jsonl);
}

} // namespace

void add_run(CLI::App& app, Context& context)
{
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Run labs and report what each traffic kept");
  command->add_option("LAB", options->labs, "Lab files, or names that `rdmalab list` shows")
      ->required();
  add_engine_options(*command, options->where);
  command->add_option("--seed", options->seed, "In place of the lab's seed")
      ->check(CLI::PositiveNumber);
  command->add_option("--repeat", options->repeat, "In place of the lab's measure.repeat")
      ->check(CLI::Range(1, 1000));
  command->add_option("--record", options->record,
                      "Keep what was measured in FILE, for `report` and `compare`");
  command
      ->add_option("--trace", options->traces,
                   "Keep every packet of each cell as pcapng files in FOLDER, for Wireshark")
      ->type_name("FOLDER");
  add_output_options(*command, options->output);
  command->callback([options, &context] {
    context.action = [options, &context] { return run(context, *options); };
  });
}

} // namespace rdmalab::cli
