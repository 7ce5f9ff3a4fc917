#pragma once

namespace rdmalab::engine {

/// rdmalab as PID 1 of a guest: mounts, loads the modules, says that it is ready, takes a plan from
/// the channel, executes its one cell with the host engine, answers with the cell's record, and
/// resets the machine. Does not return.
[[noreturn]] void guest_init();

} // namespace rdmalab::engine
