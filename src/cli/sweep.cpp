#include "analysis/sweep.h"

#include "analysis/analyse.h"
#include "analysis/samples.h"
#include "base/file.h"
#include "base/json.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/engine_options.h"
#include "cli/labs.h"
#include "lab/parse.h"
#include "lab/sweep.h"
#include "plan/planner.h"
#include "report/curve.h"

#include <algorithm>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

namespace rdmalab::cli {
namespace {

struct SweepOptions {
  std::string lab;
  EngineOptions where;
  std::uint32_t repeat = 0;
  std::string svg; ///< file; empty: not wanted
};

/// Runs the lab at one rate. What is the same at each rate, the unfaulted cells, is measured once:
/// cells share nothing, so that they belong to any point as well as to the first.
Result<record::Record> run_point(Context& context, const lab::Lab& lab, std::uint64_t rate_ppm,
                                 const SweepOptions& options, std::vector<record::Cell>& unfaulted)
{
  TRY_ASSIGN(plan::Plan plan, plan::make_plan(lab::at_rate(lab, rate_ppm)));
  if (!unfaulted.empty())
    std::erase_if(plan.cells,
                  [](const plan::Cell& c) { return c.condition != plan::Condition::faulted; });
  const std::string title = lab.name + " at " + units::format_share(rate_ppm);
  TRY_ASSIGN(record::Record record, execute_plan(context, plan, title, options.where));
  if (unfaulted.empty()) {
    for (const record::Cell& cell : record.cells)
      if (cell.condition != analysis::faulted) unfaulted.push_back(cell);
  } else {
    record.cells.insert(record.cells.begin(), unfaulted.begin(), unfaulted.end());
  }
  return record;
}

Result<Exit> sweep(Context& context, const SweepOptions& options)
{
  TRY_ASSIGN(lab::Lab lab, lab::load_file(find_lab(options.lab)));
  if (lab.sweep.rates_ppm.empty())
    return usage_error(options.lab + " has no sweep",
                       "give it one: sweep: {fault: NAME, rates: [0.1%, 1%]}");
  if (options.repeat != 0) lab.measure.repeat = options.repeat;
  catch_interrupts();
  analysis::SweepResult result = analysis::begin_sweep(lab);
  std::vector<record::Cell> unfaulted;
  for (const std::uint64_t rate : lab.sweep.rates_ppm) {
    TRY_ASSIGN(const record::Record record, run_point(context, lab, rate, options, unfaulted));
    analysis::add_point(result, rate, analysis::analyse(record));
  }
  if (!options.svg.empty()) TRY(write_file_atomically(options.svg, report::curve_svg(result)));
  if (context.json)
    print_json(context, Json(result));
  else
    context.out << report::curve_table(result, stdout_style(context));
  return result.problems.empty() ? Exit::ok : Exit::setup;
}

} // namespace

void add_sweep(CLI::App& app, Context& context)
{
  CLI::App* command =
      app.add_subcommand("sweep", "Run a lab at several rates of one fault, as a curve");
  auto options = std::make_shared<SweepOptions>();
  command->add_option("LAB", options->lab, "A lab file with a sweep, or its name")->required();
  command->add_option("--repeat", options->repeat, "In place of the lab's measure.repeat")
      ->check(CLI::Range(1, 1000));
  command->add_option("--svg", options->svg, "Draw the curve into FILE")->type_name("FILE");
  add_engine_options(*command, options->where);
  command->footer("Example:\n  rdmalab sweep labs/lesson-5-lossless.yaml --svg curve.svg");
  command->callback([options, &context] {
    context.action = [options, &context] { return sweep(context, *options); };
  });
}

} // namespace rdmalab::cli
