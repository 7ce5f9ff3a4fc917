#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace rdmalab::engine {

/// Unpacks xz, zstd or gzip, told apart by their magic numbers; other data comes back as it is.
/// Bytes after the end of the stream are ignored: the kernel appends its own length there.
Result<std::string> decompress(std::string_view data, const std::string& what);

} // namespace rdmalab::engine
