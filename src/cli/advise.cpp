#include "analysis/advice.h"
#include "analysis/analyse.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/engine_options.h"
#include "cli/labs.h"
#include "cli/output.h"
#include "lab/parse.h"
#include "plan/planner.h"
#include "report/text.h"

#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>

namespace rdmalab::cli {
namespace {

struct AdviseOptions {
  std::string subject;
  EngineOptions where;
};

Result<analysis::Result> result_of(Context& context, const AdviseOptions& options)
{
  const std::filesystem::path file = find_lab(options.subject);
  if (file.extension() != ".yaml" && file.extension() != ".yml") return read_result(file);
  TRY_ASSIGN(const lab::Lab lab, lab::load_file(file));
  TRY_ASSIGN(const plan::Plan plan, plan::make_plan(lab));
  catch_interrupts();
  TRY_ASSIGN(const record::Record record, execute_plan(context, plan, lab.name, options.where));
  return analysis::analyse(record);
}

Result<Exit> advise(Context& context, const AdviseOptions& options)
{
  TRY_ASSIGN(const analysis::Result result, result_of(context, options));
  const std::vector<analysis::Advice> list = analysis::advise(result);
  if (context.json) {
    print_json(context, {{"version", 1}, {"lab", result.lab}, {"advice", list}});
  } else if (!result.problems.empty()) {
    context.out << "No advice: the run proves nothing. " << result.problems.front() << '\n';
  } else if (list.empty()) {
    context.out << "These figures ask for no advice.\n";
  }
  if (!context.json)
    for (const analysis::Advice& a : list)
      context.out << fmt::format("- {} ({})\n    {}.\n", a.advice, a.where, a.why);
  return result.problems.empty() ? Exit::ok : static_cast<Exit>(result.exit_code);
}

} // namespace

void add_advise(CLI::App& app, Context& context)
{
  CLI::App* command =
      app.add_subcommand("advise", "The course's advice for a result, with the figures behind it");
  auto options = std::make_shared<AdviseOptions>();
  command
      ->add_option("LAB|RESULT", options->subject,
                   "A lab, which is run first; a stored Record; or what run --json printed")
      ->required();
  add_engine_options(*command, options->where);
  command->footer("Example:\n  rdmalab run labs/loss-1pct.yaml --record loss.json\n"
                  "  rdmalab advise loss.json");
  command->callback([options, &context] {
    context.action = [options, &context] { return advise(context, *options); };
  });
}

} // namespace rdmalab::cli
