#pragma once

#include "base/result.h"

#include <functional>
#include <string>

namespace rdmalab::ebpf {

/// Runs `load`, which loads eBPF programs by libbpf and returns 0 or a negative errno (a skeleton's
/// NAME__load). What the verifier refuses is an Error with Exit::setup whose hint has the
/// verifier's last lines.
Status load_programs(const std::string& what, const std::function<int()>& load);

} // namespace rdmalab::ebpf
