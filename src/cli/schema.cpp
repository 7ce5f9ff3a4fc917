#include "lab/schema.h"

#include "cli/command.h"

#include <ostream>

#include <CLI/CLI.hpp>

namespace rdmalab::cli {

void add_schema(CLI::App& app, Context& context)
{
  CLI::App* command = app.add_subcommand("schema", "The lab file's JSON Schema, for editors");
  command->footer("Example:\n  rdmalab schema > rdmalab.schema.json\n"
                  "and as the first line of a lab:\n"
                  "  # yaml-language-server: $schema=rdmalab.schema.json");
  command->callback([&context] {
    context.action = [&context]() -> Result<Exit> {
      std::string schema = lab::json_schema();
      if (!schema.ends_with('\n')) schema += '\n';
      context.out << schema;
      return Exit::ok;
    };
  });
}

} // namespace rdmalab::cli
