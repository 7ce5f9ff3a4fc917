#include "cli/cli.h"

#include "base/json.h"
#include "base/log.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/help.h"
#include "engine/guest_init.h"
#include "lab/suggest.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <span>
#include <string_view>

#include <CLI/CLI.hpp>
#include <unistd.h>

namespace rdmalab::cli {
namespace {

void add_global_flags(CLI::App& app, Context& context)
{
  app.add_flag("--json", context.json, "One JSON document on stdout and nothing else");
  app.add_flag("-q,--quiet", context.quiet, "Only results and errors");
  app.add_flag("-v,--verbose", context.verbosity, "Say more; twice: say everything");
  app.add_flag("--no-color", context.no_color, "No colours; the variable NO_COLOR does the same");
}

void add_commands(CLI::App& app, Context& context)
{
  add_run(app, context);
  add_sweep(app, context);
  add_advise(app, context);
  add_plan(app, context);
  add_validate(app, context);
  add_list(app, context);
  add_report(app, context);
  add_compare(app, context);
  add_explain(app, context);
  add_schema(app, context);
  add_doctor(app, context);
  add_gc(app, context);
  add_image(app, context);
  add_version(app, context);
}

std::vector<std::string> command_names(const CLI::App& app)
{
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands({})) names.push_back(sub->get_name());
  return names;
}

/// CLI11's words for what is wrong with the command line, and a hint of ours.
Error describe(const CLI::ParseError& e, const CLI::App& app, std::span<const char* const> words)
{
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) {
    const auto names = command_names(app);
    const auto word = std::find_if(words.begin(), words.end(),
                                   [](const char* w) { return *w != '-' && *w != '\0'; });
    if (word != words.end())
      return usage_error("'" + std::string(*word) + "' is no command" +
                             lab::did_you_mean(*word, names),
                         "the commands are " + lab::join(names));
    if (words.empty()) return usage_error("no command", "the commands are " + lab::join(names));
    return usage_error(e.what(), "rdmalab --help");
  }
  return usage_error(chosen.front()->get_name() + ": " + e.what(),
                     "rdmalab " + chosen.front()->get_name() + " --help");
}

int fail(Context& context, const Error& error)
{
  print_error(context, error);
  if (context.json) print_json(context, {{"error", error_json(error)}});
  return static_cast<int>(error.exit);
}

} // namespace

int run(int argc, const char* const* argv, std::ostream& out, std::ostream& err)
{
  const std::span words(argv + 1, argc > 0 ? static_cast<std::size_t>(argc - 1) : 0);
  Context context{out, err};
  CLI::App app{"rdmalab: a packet-level fault-injection lab around Soft-RoCE.\n"
               "It builds the network of a lab file from real kernel parts, drives RoCE and TCP\n"
               "through it, with faults and without, and reports what each of them kept.",
               "rdmalab"};
  app.require_subcommand(1);
  app.fallthrough();
  app.set_version_flag("--version", std::string("rdmalab ") + version);
  add_global_flags(app, context);
  add_commands(app, context);
  app.footer(std::string("Examples:\n") + examples + "\n\nExit codes:\n" + exit_code_table);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e, out, err); // --help, --version
    context.json = std::find(words.begin(), words.end(), std::string_view("--json")) != words.end();
    return fail(context, describe(e, app, words));
  }

  if (context.no_color) setenv("NO_COLOR", "1", 1); // for all that writes to a terminal
  setup_log(context.quiet ? -1 : context.verbosity);
  const Result<Exit> result = context.action();
  if (!result) return fail(context, result.error());
  out.flush();
  if (!out)
    return fail(context, {Exit::setup, "write to standard output", 0, "is the disk full?", {}});
  return static_cast<int>(*result);
}

int main(int argc, char** argv)
{
  try {
    if (getpid() == 1 && engine::in_guest()) engine::guest_init();
    return run(argc, argv, std::cout, std::cerr);
  } catch (const std::exception& e) { // exceptions are for bugs only
    std::fputs("error: this is a bug in rdmalab: ", stderr);
    std::fputs(e.what(), stderr);
    std::fputs("\n", stderr);
    return static_cast<int>(Exit::setup);
  }
}

} // namespace rdmalab::cli
