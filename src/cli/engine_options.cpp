#include "cli/engine_options.h"

#include "cli/progress.h"

#include <csignal>
#include <cstdint>
#include <map>
#include <string>

#include <CLI/CLI.hpp>

namespace rdmalab::cli {
namespace {

void on_signal(int /*number*/)
{
  engine::interrupted = true;
}

} // namespace

void catch_interrupts()
{
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
}

void add_engine_options(CLI::App& command, EngineOptions& options)
{
  command
      .add_option("--engine", options.engine.engine,
                  "Where: auto, host (this kernel) or vm (guests)")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, engine::EngineKind>{{"auto", engine::EngineKind::automatic},
                                                    {"host", engine::EngineKind::host},
                                                    {"vm", engine::EngineKind::vm}}));
  command
      .add_option("--clock", options.engine.clock,
                  "auto, real, or virtual: one instruction is one ns, and every run repeats")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, engine::ClockKind>{{"auto", engine::ClockKind::automatic},
                                                   {"real", engine::ClockKind::real},
                                                   {"virtual", engine::ClockKind::virtual_}}));
  command.add_option("-j,--jobs", options.engine.jobs,
                     "Guests side by side (default: one a core on the virtual clock)");
  command.add_option("--timeout", options.timeout_seconds,
                     "Wall-clock seconds that one cell may take (default 600)");
  command.add_flag("--boot", options.boot, "Boot every guest in place of restoring a snapshot");
}

Result<record::Record> execute_plan(Context& context, const plan::Plan& plan,
                                    const std::string& title, const EngineOptions& options,
                                    const std::function<void(const record::Cell&)>& cell_done)
{
  engine::Options how = options.engine;
  how.timeout_ns = options.timeout_seconds * std::uint64_t{1'000'000'000};
  how.snapshot = !options.boot;
  ProgressLine line(context, title);
  engine::Progress progress;
  progress.say = [&line](const std::string& text) { line.say(text); };
  progress.cell_done = [&](size_t done, size_t total, const record::Cell& cell) {
    line.cell_done(done, total, cell);
    cell_done(cell);
  };
  TRY_ASSIGN(record::Record record, engine::execute(plan, how, progress));
  line.finish();
  return record;
}

} // namespace rdmalab::cli
