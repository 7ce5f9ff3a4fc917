#pragma once

namespace rdmalab::engine {

/// Whether this is PID 1 of one of our guests, rather than of a container.
bool in_guest();

/// rdmalab as PID 1 of a guest: mounts, loads the modules, says that it is ready, takes a plan from
/// the channel, executes its one cell with the host engine, answers with the cell's record, and
/// resets the machine. Does not return.
[[noreturn]] void guest_init();

} // namespace rdmalab::engine
