#include "base/json.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/labs.h"
#include "lab/parse.h"
#include "plan/planner.h"

#include <memory>
#include <ostream>
#include <vector>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>

namespace rdmalab::cli {
namespace {

struct Checked {
  std::filesystem::path file;
  std::optional<plan::Plan> plan; ///< only without errors
  std::vector<Error> errors;
};

/// All that is wrong with a file: what the parser finds, or else what can't be planned.
Checked check(const std::string& name)
{
  Checked checked{find_lab(name), {}, {}};
  lab::Parsed parsed = lab::load_file_all(checked.file);
  for (const lab::Diagnostic& diagnostic : parsed.diagnostics)
    checked.errors.push_back(diagnostic.error());
  if (!parsed.lab) return checked;
  auto plan = plan::make_plan(*parsed.lab);
  if (plan) {
    checked.plan = std::move(*plan);
    return checked;
  }
  checked.errors.push_back(plan.error());
  checked.errors.back().where = checked.file.string();
  return checked;
}

Json to_json(const Checked& checked)
{
  Json json{{"file", checked.file.string()}, {"valid", checked.plan.has_value()}};
  if (checked.plan) {
    json["lab"] = checked.plan->lab.name;
    json["cells"] = checked.plan->cells.size();
  }
  json["errors"] = Json::array();
  for (const Error& error : checked.errors) json["errors"].push_back(error_json(error));
  return json;
}

Result<Exit> validate(Context& context, const std::vector<std::string>& files)
{
  bool valid = true;
  Json found = Json::array();
  for (const std::string& name : files) {
    const Checked checked = check(name);
    valid = valid && checked.plan;
    for (const Error& error : checked.errors) print_error(context, error);
    if (context.json)
      found.push_back(to_json(checked));
    else if (checked.plan && !context.quiet)
      context.out << fmt::format("{}: {} is a valid lab: hosts {}, traffics {}, faults {}, "
                                 "rules {}, "
                                 "cells {}\n",
                                 checked.file.string(), checked.plan->lab.name,
                                 checked.plan->lab.topology.hosts.size(),
                                 checked.plan->lab.traffic.size(), checked.plan->lab.faults.size(),
                                 checked.plan->lab.rules.size(), checked.plan->cells.size());
  }
  if (context.json) print_json(context, {{"version", 1}, {"valid", valid}, {"files", found}});
  return valid ? Exit::ok : Exit::usage;
}

} // namespace

void add_validate(CLI::App& app, Context& context)
{
  CLI::App* command =
      app.add_subcommand("validate", "Check lab files; say everything that is wrong");
  auto files = std::make_shared<std::vector<std::string>>();
  command->add_option("FILE", *files, "Lab files, or names of labs that come along")->required();
  command->footer("Exit codes: 0 all are valid, 2 one is not.\n\nExample:\n"
                  "  rdmalab validate labs/*.yaml");
  command->callback([&context, files] {
    context.action = [&context, files] { return validate(context, *files); };
  });
}

} // namespace rdmalab::cli
