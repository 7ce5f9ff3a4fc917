#pragma once

#include "cli/command.h"
#include "engine/engine.h"

namespace rdmalab::cli {

/// Options of the commands that run cells.
struct EngineOptions {
  engine::Options engine;
  unsigned timeout_seconds = 0; ///< wall clock, of one cell; 0: the default
  bool boot = false;
};

/// Adds --engine, --clock, --jobs, --timeout and --boot.
void add_engine_options(CLI::App& command, EngineOptions& options);

/// What the engine takes.
engine::Options engine_options(const EngineOptions& options);

/// The first Ctrl-C ends the run in order, a second one at once.
void catch_interrupts();

} // namespace rdmalab::cli
