#include "analysis/analyse.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/output.h"

#include <memory>
#include <vector>

#include <CLI/CLI.hpp>

namespace rdmalab::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> files;
  OutputOptions output;
};

Result<Exit> report_again(Context& context, const ReportOptions& options)
{
  TRY(check_output_options(context, options.output, options.files.size()));
  std::vector<Outcome> outcomes;
  for (const std::string& file : options.files) {
    TRY_ASSIGN(record::Record record, read_record(file));
    analysis::Result result = analysis::analyse(record);
    outcomes.push_back({std::move(record), std::move(result)});
  }
  return write_outputs(context, options.output, outcomes);
}

} // namespace

void add_report(CLI::App& app, Context& context)
{
  CLI::App* command =
      app.add_subcommand("report", "Analyse stored Records again and print any output");
  auto options = std::make_shared<ReportOptions>();
  command->add_option("RECORD", options->files, "Files that `run --record FILE` stored")
      ->required();
  add_output_options(*command, options->output);
  command->footer("The exit code is the one that the run gave.\n\nExample:\n"
                  "  rdmalab report record.json --html report.html");
  command->callback([&context, options] {
    context.action = [&context, options] { return report_again(context, *options); };
  });
}

} // namespace rdmalab::cli
