#pragma once

#include "engine/engine.h"
#include "engine/machine.h"

namespace rdmalab::engine {

/// Each cell in a guest of its own, `jobs` of them side by side.
Result<record::Record> execute_in_guests(const plan::Plan& plan, const Options& options,
                                         Accelerator accelerator, const Progress& progress);

/// Whether a guest boots under KVM here: found out by booting one, for at most ten seconds. A
/// /dev/kvm that opens proves nothing.
bool kvm_works(std::string& why);

} // namespace rdmalab::engine
