#pragma once

#include "lab/lab.h"

#include <string>

namespace rdmalab::analysis {

/// The lab file's words: "verbs", "tcp"; "loss", "burst-loss" …
std::string kind_name(lab::TrafficKind kind);
std::string kind_name(lab::FaultKind kind);

} // namespace rdmalab::analysis
