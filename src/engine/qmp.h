#pragma once

#include "base/fd.h"
#include "base/json.h"
#include "base/result.h"

#include <cstdint>
#include <string>

namespace rdmalab::engine {

/// QEMU's monitor protocol over a connected socket (QEMU, docs/interop/qmp-spec.rst).
class Qmp {
public:
  /// `socket` is our end of a socket pair whose other end QEMU has.
  explicit Qmp(Fd socket) : socket_(std::move(socket)) {}

  /// Reads the greeting and enters command mode.
  Status handshake(std::uint64_t deadline_ns);
  /// Runs one command; its "return" value, or an Error with QEMU's description. Events on the way
  /// are dropped.
  Result<Json> command(const std::string& name, const Json& arguments, std::uint64_t deadline_ns);

private:
  Result<Json> receive(std::uint64_t deadline_ns);
  Fd socket_;
  std::string buffer_;
};

} // namespace rdmalab::engine
