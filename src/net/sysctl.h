#pragma once

#include "base/result.h"
#include "net/netns.h"

#include <cstdint>
#include <string>

namespace rdmalab::net {

/// Writes /proc/sys/KEY as seen from inside the namespace; `key` with slashes:
/// "net/ipv4/ip_forward". /proc/sys/net shows the namespace of the thread that opens a file there.
Status write_sysctl(const NetNamespace& ns, const std::string& key, const std::string& value);
Result<std::string> read_sysctl(const NetNamespace& ns, const std::string& key);

/// Keeps IPv6 away from devices that will be made in the namespace: no link-local address, no
/// duplicate address detection, no router or multicast chatter on the fabric. Success where the
/// kernel has no IPv6.
Status disable_ipv6(const NetNamespace& ns);

/// A number of /proc/sys that is at least `minimum` while the object lives, and what it was
/// afterwards. For kernel-wide limits, which exist in the first network namespace only. Move-only.
class RaisedSysctl {
public:
  RaisedSysctl() = default;
  static Result<RaisedSysctl> raise(const NetNamespace& ns, const std::string& key,
                                    std::uint64_t minimum);
  RaisedSysctl(RaisedSysctl&& other) noexcept;
  RaisedSysctl& operator=(RaisedSysctl&& other) noexcept;
  RaisedSysctl(const RaisedSysctl&) = delete;
  RaisedSysctl& operator=(const RaisedSysctl&) = delete;
  ~RaisedSysctl() { restore(); }

private:
  void restore();
  std::string key_;
  std::string before_; ///< empty: nothing to restore
};

} // namespace rdmalab::net
