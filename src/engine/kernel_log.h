#pragma once

#include "base/fd.h"
#include "base/result.h"

#include <string>
#include <vector>

namespace rdmalab::engine {

/// The kernel's log from the moment this object is made (/dev/kmsg,
/// Documentation/ABI/testing/dev-kmsg).
class KernelLog {
public:
  static Result<KernelLog> open();
  /// Messages of level warning or worse since the last call, without time stamps: those depend on
  /// the boot.
  [[nodiscard]] std::vector<std::string> warnings();

private:
  explicit KernelLog(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

/// "4,1234,5678,-;text" to its level (0 … 7) and text; level -1 if it isn't such a record.
struct KernelMessage {
  int level = -1;
  std::string text;
};
KernelMessage parse_kernel_message(const std::string& record);

} // namespace rdmalab::engine
