#include "analysis/compare.h"

#include "cli/command.h"
#include "cli/console.h"
#include "cli/output.h"
#include "report/compare_table.h"
#include "report/json.h"

#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

namespace rdmalab::cli {
namespace {

struct CompareOptions {
  std::string before;
  std::string after;
  bool strict = false;
};

Result<Exit> compare_two(Context& context, const CompareOptions& options)
{
  TRY_ASSIGN(const analysis::Result before, read_result(options.before));
  TRY_ASSIGN(const analysis::Result after, read_result(options.after));
  TRY_ASSIGN(const analysis::Comparison comparison, analysis::compare(before, after));
  if (context.json)
    context.out << report::json(comparison);
  else
    context.out << report::compare_table(comparison, stdout_style(context));
  if (comparison.change == analysis::Change::regressed) return Exit::expectation;
  if (comparison.change == analysis::Change::inconclusive && options.strict)
    return Exit::inconclusive;
  return Exit::ok;
}

} // namespace

void add_compare(CLI::App& app, Context& context)
{
  CLI::App* command = app.add_subcommand("compare", "Tell whether a newer run lost throughput");
  auto options = std::make_shared<CompareOptions>();
  command->add_option("BEFORE", options->before, "A stored Record, or what run --json printed")
      ->required();
  command->add_option("AFTER", options->after, "The same of a newer run")->required();
  command->add_flag("--strict", options->strict, "Inconclusive is not good enough: exit 8");
  command->footer("Exit codes: 0 no loss, 1 a figure got worse, 2 not comparable (other labs or\n"
                  "clocks, an invalid run), 8 inconclusive under --strict.\n\nExample:\n"
                  "  rdmalab compare main.json branch.json");
  command->callback([&context, options] {
    context.action = [&context, options] { return compare_two(context, *options); };
  });
}

} // namespace rdmalab::cli
