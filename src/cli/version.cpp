#include "base/version.h"

#include "base/json.h"
#include "cli/command.h"
#include "cli/console.h"

#include <ostream>

#include <CLI/CLI.hpp>

namespace rdmalab::cli {

void add_version(CLI::App& app, Context& context)
{
  CLI::App* command = app.add_subcommand("version", "The program's version");
  command->callback([&context] {
    context.action = [&context]() -> Result<Exit> {
      if (context.json)
        print_json(context, {{"version", 1}, {"rdmalab", version}});
      else
        context.out << "rdmalab " << version << '\n';
      return Exit::ok;
    };
  });
}

} // namespace rdmalab::cli
