#pragma once

#include "base/result.h"

#include <functional>
#include <iosfwd>
#include <string>

namespace CLI {
class App;
}

/// One file per sub-command. Its add_…() describes the options; the callback that CLI11 runs after
/// parsing sets Context::action, which does the work.
namespace rdmalab::cli {

/// What every command gets: the streams, the global flags, and the place for its action.
struct Context {
  std::ostream& out; ///< stdout: results only; with `json` one document and nothing else
  std::ostream& err; ///< stderr: errors, hints, progress
  bool json = false;
  bool quiet = false;
  bool no_color = false;
  int verbosity = 0;
  std::function<Result<Exit>()> action = {};
};

void add_validate(CLI::App& app, Context& context);
void add_plan(CLI::App& app, Context& context);
void add_list(CLI::App& app, Context& context);
void add_schema(CLI::App& app, Context& context);
void add_explain(CLI::App& app, Context& context);
void add_report(CLI::App& app, Context& context);
void add_compare(CLI::App& app, Context& context);
void add_version(CLI::App& app, Context& context);

// Those that run guests or look at the machine.
void add_run(CLI::App& app, Context& context);
void add_sweep(CLI::App& app, Context& context);
void add_advise(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
void add_gc(CLI::App& app, Context& context);
void add_image(CLI::App& app, Context& context);

} // namespace rdmalab::cli
