#pragma once

#include "base/fd.h"
#include "base/result.h"

namespace rdmalab::engine {

/// The library of engine/turns/ as an anonymous file, to be preloaded into QEMU as /proc/self/fd/N.
/// Without it a guest on the virtual clock repeats but for some ns now and then.
Result<Fd> turns_library();

} // namespace rdmalab::engine
