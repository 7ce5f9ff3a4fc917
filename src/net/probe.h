#pragma once

#include "base/json_fwd.h"

#include <string>
#include <vector>

namespace rdmalab::net {

/// One thing the host engine needs, and whether this kernel did it when it was tried.
struct Capability {
  std::string name; ///< "netem with seed"
  bool required =
      true; ///< without it the host engine can't run a lab; otherwise it loses precision
  bool ok = false;
  std::string why;    ///< what happened when it was tried; "" if ok
  std::string remedy; ///< one sentence; "" if ok
};
RDMALAB_JSON_DECLARE(Capability)

/// Tries everything in namespaces without names, in a child process that is killed after 20 s, so
/// it hangs never and leaves nothing behind. What can't be tried because something before it failed
/// says so. The kernel may load modules meanwhile. Never fails itself.
std::vector<Capability> probe_kernel();

/// All that is required is there.
bool can_run_labs(const std::vector<Capability>& capabilities);

} // namespace rdmalab::net
