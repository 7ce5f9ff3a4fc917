#pragma once

#include "wire/bytes.h"
#include "wire/trace.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rdmalab::fault {

/// A trace that owns its packets' bytes. Move-only: a copy would point into the original.
struct CapturedTrace {
  CapturedTrace() = default;
  CapturedTrace(CapturedTrace&&) = default;
  CapturedTrace& operator=(CapturedTrace&&) = default;
  CapturedTrace(const CapturedTrace&) = delete;
  CapturedTrace& operator=(const CapturedTrace&) = delete;
  ~CapturedTrace() = default;

  std::vector<std::byte> storage;
  wire::Trace trace;
};

/// A trace as the programs left it: to be decoded elsewhere, and later.
struct RawTrace {
  std::uint64_t start_ns = 0;
  std::uint64_t record_bytes = 0; ///< of each
  std::uint64_t lost = 0;         ///< packets that found no room
  std::string records;
};

/// Decodes the programs' records, `record_bytes` apart, into packets by time; equal times stay in
/// the order in which they were written. A tag that the kernel kept beside the frame is put back
/// into it. Times are relative to `start_ns`; what is older gets 0. Hosts, rules and `lost` are
/// left to the caller.
CapturedTrace decode_trace(wire::Bytes records, std::size_t record_bytes, std::uint64_t start_ns);

} // namespace rdmalab::fault
