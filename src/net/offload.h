#pragma once

#include "base/fd.h"
#include "base/result.h"
#include "net/netns.h"

#include <string>
#include <string_view>
#include <vector>

namespace rdmalab::net {

/// Whether a feature of that name (as `ethtool -k` without its aliases shows it) makes one skb of
/// many packets: segmentation and aggregation. netem decides once per skb, so they must be off on
/// the fabric.
bool is_batching_offload(std::string_view feature);

/// Reads and writes device features by ETHTOOL_GFEATURES and ETHTOOL_SFEATURES (linux/ethtool.h).
class Ethtool {
public:
  /// A socket for the ioctl, opened inside the namespace.
  static Result<Ethtool> open(const NetNamespace& ns);

  /// Names of the batching offloads that are on.
  Result<std::vector<std::string>> batching_offloads(const std::string& device);
  /// Switches them off as far as the device lets us and returns those that are still on, read back.
  Result<std::vector<std::string>> disable_batching(const std::string& device);

private:
  explicit Ethtool(Fd socket) : socket_(std::move(socket)) {}
  Status call(const std::string& device, void* command, const std::string& attempted);
  Result<std::vector<std::string>> feature_names(const std::string& device);
  Fd socket_;
  std::vector<std::string> names_; ///< the kernel's feature bits in order; the same for all devices
};

} // namespace rdmalab::net
