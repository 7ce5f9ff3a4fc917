#pragma once

#include "engine/engine.h"

namespace rdmalab::engine {

/// All cells in this kernel, one after the other; each builds its fabric anew and takes it down.
Result<record::Record> execute_on_host(const plan::Plan& plan, const Progress& progress);

/// Whether this kernel can do it, found out by trying.
bool host_works(std::string& why);

} // namespace rdmalab::engine
