#pragma once

#include "base/fd.h"
#include "base/json_fwd.h"
#include "base/result.h"

#include <cstdint>
#include <string>

namespace rdmalab::traffic {

/// Waits until `events` (poll(2)) or an error is pending on fd. False: CLOCK_MONOTONIC reached
/// deadline_ns first.
Result<bool> wait_for(int fd, short events, std::uint64_t deadline_ns);

/// JSON messages over a connected stream socket: a 32-bit length in network byte order, then the
/// text. Every call is bounded by a deadline (CLOCK_MONOTONIC ns; Exit::timeout when it passes).
/// Move-only.
class JsonSocket {
public:
  JsonSocket() = default;
  /// Makes the socket non-blocking. `peer` names the other end in errors.
  JsonSocket(Fd socket, std::string peer);

  Status send(const Json& message, std::uint64_t deadline_ns);
  /// Exit::traffic when the peer has closed its end.
  Result<Json> receive(std::uint64_t deadline_ns);
  /// Sends ours, receives theirs: both ends call it, and neither goes on before the other has
  /// arrived.
  Result<Json> exchange(const Json& ours, std::uint64_t deadline_ns);

  [[nodiscard]] int fd() const { return socket_.get(); }

private:
  Status read_exactly(char* to, std::size_t bytes, std::uint64_t deadline_ns);

  Fd socket_;
  std::string peer_;
};

} // namespace rdmalab::traffic
