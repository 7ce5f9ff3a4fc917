#pragma once

#include "base/json_fwd.h"
#include "base/result.h"

#include <string>
#include <vector>

namespace rdmalab::engine {

struct Leftovers {
  std::vector<std::string> removed;
  std::vector<std::string> alive;    ///< belong to runs that go on
  std::vector<std::string> problems; ///< what could not be removed, and why
};
RDMALAB_JSON_DECLARE(Leftovers)

/// Removes what runs left whose process is gone: namespaces of the host engine (as root), folders
/// of guests. A guest itself never outlives its run: the kernel kills it with the process that
/// started it.
Result<Leftovers> remove_leftovers();

} // namespace rdmalab::engine
