#include "engine/doctor.h"

#include "base/json.h"
#include "cli/command.h"
#include "cli/console.h"

#include <ostream>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>

namespace rdmalab::cli {
namespace {

void print_checks(std::ostream& out, const std::string& title,
                  const std::vector<engine::Check>& checks)
{
  out << title << '\n';
  for (const engine::Check& check : checks) {
    out << fmt::format("  {:<4} {}: {}\n", check.ok ? "ok" : "no", check.name, check.found);
    if (!check.remedy.empty()) out << "         -> " << check.remedy << '\n';
  }
}

Result<Exit> doctor(Context& context)
{
  const engine::Diagnosis d = engine::diagnose();
  if (context.json) {
    print_json(context, d);
  } else {
    print_checks(context.out, "This kernel (engine host):", d.host);
    print_checks(context.out, "Guests (engine vm):", d.vm);
    context.out << "`rdmalab run` takes: " << d.choice << '\n';
  }
  return d.host_engine || d.vm_virtual || d.vm_real ? Exit::ok : Exit::environment;
}

} // namespace

void add_doctor(CLI::App& app, Context& context)
{
  app.add_subcommand("doctor", "Say what this machine can do, and the remedy for what it can't")
      ->callback([&context] { context.action = [&context] { return doctor(context); }; });
}

} // namespace rdmalab::cli
