#pragma once

#include <span>
#include <string_view>

namespace rdmalab::cli {

/// A page of `rdmalab explain`.
struct Topic {
  std::string_view name;
  std::string_view summary; ///< one line
  std::string_view text;
};

std::span<const Topic> topics();

} // namespace rdmalab::cli
