#pragma once

#include "base/result.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace rdmalab {

/// "sha256:" and 64 hex digits.
std::string sha256(std::string_view data);
Result<std::string> sha256_file(const std::filesystem::path& path);

} // namespace rdmalab
