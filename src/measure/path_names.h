#pragma once

#include <cstdint>
#include <string>

/// Names for what the path ledger counts by number.
namespace rdmalab::measure {

/// Of a system call of this architecture; "call 777" for one that has no name here.
std::string syscall_name(std::uint32_t number);

/// Of a stage, by kind and stage of bpf/path_ledger.h.
std::string stage_name(std::uint32_t kind, std::uint32_t stage);

/// Which stage can't be measured without this function; "" for a function of no stage.
std::string stage_of_function(const std::string& function);

} // namespace rdmalab::measure
