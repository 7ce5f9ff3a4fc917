#include "cli/output.h"

#include "analysis/analyse.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/console.h"
#include "report/html.h"
#include "report/json.h"
#include "report/jsonl.h"
#include "report/junit.h"
#include "report/markdown.h"
#include "report/table.h"

#include <algorithm>
#include <array>
#include <ostream>

#include <CLI/CLI.hpp>

namespace rdmalab::cli {
namespace {

Status write_files(const OutputOptions& options, const std::vector<Outcome>& outcomes)
{
  if (!options.junit.empty()) {
    std::vector<analysis::Result> results;
    results.reserve(outcomes.size());
    for (const Outcome& outcome : outcomes) results.push_back(outcome.result);
    TRY(write_file_atomically(options.junit, report::junit(results, options.strict)));
  }
  if (!options.markdown.empty()) {
    std::string text;
    for (const Outcome& outcome : outcomes)
      text += (text.empty() ? "" : "\n") + report::markdown(outcome.result);
    TRY(write_file_atomically(options.markdown, text));
  }
  if (!options.html.empty())
    for (const Outcome& outcome : outcomes)
      TRY(write_file_atomically(options.html, report::html(outcome.result)));
  return {};
}

void print_results(Context& context, const std::vector<Outcome>& outcomes)
{
  if (outcomes.size() == 1) {
    context.out << report::json(outcomes.front().result);
    return;
  }
  Json results = Json::array();
  for (const Outcome& outcome : outcomes) results.push_back(outcome.result);
  print_json(context, {{"version", 1}, {"results", results}});
}

/// JSON of a file that must be an object of version 1.
rdmalab::Result<Json> read_document(const std::filesystem::path& path)
{
  auto text = read_file(path);
  if (!text) {
    text.error().exit = Exit::usage;
    return text.error();
  }
  TRY_ASSIGN(Json json, parse_json(*text, path.string()));
  if (!json.is_object() || !json.contains("version"))
    return usage_error("read " + path.string() + ": neither a Record nor a Result of rdmalab");
  if (json["version"] != 1)
    return usage_error("read " + path.string() + ": version " + json["version"].dump() +
                           " is not known here",
                       "this rdmalab reads version 1");
  return json;
}

rdmalab::Result<record::Record> to_record(const Json& json, const std::filesystem::path& path)
{
  if (!json.contains("cells") || !json.contains("lab") || !json["lab"].is_object())
    return usage_error("read " + path.string() + ": not a Record",
                       "a Record is what `rdmalab run --record FILE` stores");
  TRY_ASSIGN(record::Record record, from_json_value<record::Record>(json, path.string()));
  if (record.cells.empty())
    return usage_error("read " + path.string() + ": a Record without cells");
  return record;
}

} // namespace

void add_output_options(CLI::App& command, OutputOptions& options)
{
  command.add_flag("--jsonl", options.jsonl, "Lines of JSON on stdout: each cell, then the result");
  command.add_option("--junit", options.junit, "Write JUnit XML to this file")->type_name("FILE");
  command.add_option("--markdown", options.markdown, "Write Markdown to this file")
      ->type_name("FILE");
  command.add_option("--html", options.html, "Write one self-contained HTML page to this file")
      ->type_name("FILE");
  command.add_flag("--strict", options.strict, "Inconclusive is not good enough: exit 8");
}

Status check_output_options(const Context& context, const OutputOptions& options, std::size_t labs)
{
  if (context.json && options.jsonl)
    return usage_error("--json and --jsonl both want stdout", "take one of them");
  if (!options.html.empty() && labs > 1)
    return usage_error("--html writes one lab's page, and there are " + std::to_string(labs),
                       "take one lab, or --markdown");
  return {};
}

Exit worse(Exit a, Exit b)
{
  constexpr std::array order{Exit::ok,      Exit::skipped, Exit::inconclusive, Exit::expectation,
                             Exit::traffic, Exit::setup,   Exit::environment,  Exit::timeout,
                             Exit::guest,   Exit::usage,   Exit::interrupted};
  return std::find(order.begin(), order.end(), a) < std::find(order.begin(), order.end(), b) ? b
                                                                                             : a;
}

rdmalab::Result<Exit> write_outputs(Context& context, const OutputOptions& options,
                                    const std::vector<Outcome>& outcomes, bool cells_printed)
{
  TRY(write_files(options, outcomes));
  Exit exit = Exit::ok;
  for (const Outcome& outcome : outcomes) {
    exit = worse(exit, analysis::exit_status(outcome.result, options.strict));
    if (options.jsonl)
      context.out << (cells_printed ? report::jsonl_result(outcome.result)
                                    : report::jsonl(outcome.record, outcome.result));
    else if (!context.json)
      context.out << report::table(outcome.result, stdout_style(context));
  }
  if (context.json) print_results(context, outcomes);
  return exit;
}

rdmalab::Result<record::Record> read_record(const std::filesystem::path& path)
{
  TRY_ASSIGN(const Json json, read_document(path));
  return to_record(json, path);
}

rdmalab::Result<analysis::Result> read_result(const std::filesystem::path& path)
{
  TRY_ASSIGN(const Json json, read_document(path));
  if (json.contains("record_digest")) return from_json_value<analysis::Result>(json, path.string());
  TRY_ASSIGN(const record::Record record, to_record(json, path));
  return analysis::analyse(record);
}

} // namespace rdmalab::cli
