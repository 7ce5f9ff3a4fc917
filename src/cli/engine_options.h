#pragma once

#include "cli/command.h"
#include "engine/engine.h"
#include "plan/plan.h"
#include "record/record.h"

#include <functional>
#include <string>

namespace rdmalab::cli {

/// Options of the commands that run cells.
struct EngineOptions {
  engine::Options engine;
  unsigned timeout_seconds = 0; ///< wall clock, of one cell; 0: the default
  bool boot = false;
};

/// Adds --engine, --clock, --jobs, --timeout and --boot.
void add_engine_options(CLI::App& command, EngineOptions& options);

/// Runs a plan and shows under `title` how far it is. `cell_done` is told of each cell besides.
Result<record::Record> execute_plan(
    Context& context, const plan::Plan& plan, const std::string& title,
    const EngineOptions& options,
    const std::function<void(const record::Cell&)>& cell_done = [](const record::Cell&) {});

/// The first Ctrl-C ends the run in order, a second one at once.
void catch_interrupts();

} // namespace rdmalab::cli
