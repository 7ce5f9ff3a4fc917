#pragma once

#include "base/json_fwd.h"

#include <string>
#include <vector>

namespace rdmalab::engine {

/// One thing that was looked at, by trying it.
struct Check {
  std::string name;
  bool ok = false;
  std::string found;  ///< what was found, or what is missing
  std::string remedy; ///< the exact next step; "" if ok
};
RDMALAB_JSON_DECLARE(Check)

/// What this machine can do.
struct Diagnosis {
  bool host_engine = false;
  bool vm_real = false;
  bool vm_virtual = false;
  std::string choice; ///< what `run` would take
  std::vector<Check> host;
  std::vector<Check> vm;
};
RDMALAB_JSON_DECLARE(Diagnosis)

/// Looks at everything that the engines need. Takes up to half a minute: capabilities are tried,
/// not guessed.
Diagnosis diagnose();

} // namespace rdmalab::engine
