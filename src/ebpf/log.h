#pragma once

#include <string>

namespace rdmalab::ebpf {

/// While it lives, what libbpf has to say on this thread is kept instead of printed, so that an
/// Error can carry the verifier's last lines. libbpf's printer is one for the process; other
/// threads' messages go where they went.
class BpfLog {
public:
  BpfLog();
  ~BpfLog();
  BpfLog(const BpfLog&) = delete;
  BpfLog& operator=(const BpfLog&) = delete;

  /// The last lines said, joined by "; ", without libbpf's frames around them.
  [[nodiscard]] std::string tail(std::size_t lines = 6) const;
};

} // namespace rdmalab::ebpf
