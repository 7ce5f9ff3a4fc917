#include "base/json.h"
#include "cli/command.h"
#include "cli/console.h"
#include "engine/leftovers.h"

#include <ostream>

#include <CLI/CLI.hpp>

namespace rdmalab::cli {
namespace {

Result<Exit> gc(Context& context)
{
  TRY_ASSIGN(const engine::Leftovers found, engine::remove_leftovers());
  if (context.json) {
    print_json(context, found);
  } else {
    for (const std::string& what : found.removed) context.out << "removed " << what << '\n';
    for (const std::string& what : found.alive) context.out << "left alone " << what << '\n';
    for (const std::string& what : found.problems) context.err << "problem: " << what << '\n';
    if (found.removed.empty()) context.out << "nothing left behind\n";
  }
  return found.problems.empty() ? Exit::ok : Exit::setup;
}

} // namespace

void add_gc(CLI::App& app, Context& context)
{
  app.add_subcommand("gc", "Remove what killed runs left behind")->callback([&context] {
    context.action = [&context] { return gc(context); };
  });
}

} // namespace rdmalab::cli
