#pragma once

#include "lab/operation.h"

#include <cstdint>
#include <cstring>

namespace rdmalab::traffic {

/// What a SEND says about the WRITE before it.
struct Notice {
  std::uint64_t number = 0;  ///< of the message
  std::uint64_t sent_ns = 0; ///< CLOCK_MONOTONIC

  static Notice read(const std::byte* from)
  {
    Notice notice;
    std::memcpy(&notice, from, sizeof notice);
    return notice;
  }
  void write(std::byte* to) const { std::memcpy(to, this, sizeof *this); }
};
static_assert(sizeof(Notice) == lab::notice_bytes);

} // namespace rdmalab::traffic
