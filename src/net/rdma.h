#pragma once

#include "base/result.h"
#include "net/message.h"
#include "net/socket.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// Links of the software RDMA devices, rdma_rxe and siw, by NETLINK_RDMA (rdma/rdma_netlink.h,
/// drivers/infiniband/core/nldev.c).
namespace rdmalab::net {

/// An RDMA device that the socket's namespace sees.
struct RdmaDevice {
  std::uint32_t index = 0;
  std::string name;
  /// The network device under its port 1, "" if that one lives in another namespace: in the
  /// kernel's default
  /// ("shared") mode every namespace sees every RDMA device, and this tells whose it is.
  std::string netdev;
};

Message rdma_new_link_message(const std::string& name, const std::string& type,
                              const std::string& netdev);
Message rdma_delete_link_message(std::uint32_t index);
Message rdma_counters_message(std::uint32_t index, std::uint32_t port);

/// A software RDMA device; removed when the object dies. Keeps a pointer to the NETLINK_RDMA socket
/// that made it, which must outlive it and stay where it is. Move-only.
class RdmaLink {
public:
  RdmaLink() = default;
  /// On a device of the socket's namespace, of type "rxe" (RoCEv2) or "siw" (iWARP); the name is
  /// unique in the whole kernel in shared mode. Make it when the network device is up and has its
  /// address.
  static Result<RdmaLink> create(NlSocket& socket, const std::string& name, const std::string& type,
                                 const std::string& netdev);

  RdmaLink(RdmaLink&& other) noexcept;
  RdmaLink& operator=(RdmaLink&& other) noexcept;
  RdmaLink(const RdmaLink&) = delete;
  RdmaLink& operator=(const RdmaLink&) = delete;
  ~RdmaLink();

  /// Removes the device and waits, 5 s at most, until it is gone. Gone already: success.
  Status remove();
  [[nodiscard]] std::uint32_t index() const { return index_; }
  [[nodiscard]] const std::string& name() const { return name_; }

private:
  NlSocket* socket_ = nullptr;
  std::uint32_t index_ = 0;
  std::string name_;
};

/// Every RDMA device the socket's namespace sees.
Result<std::vector<RdmaDevice>> list_rdma(NlSocket& socket);

/// The device's hardware counters (rxe_hw_counters.c; siw has none) by their names, by
/// RDMA_NLDEV_CMD_STAT_GET: unlike /sys/class/infiniband it needs no mount, and no mount that
/// belongs to the right namespace.
Result<std::map<std::string, std::uint64_t>> rdma_counters(NlSocket& socket, std::uint32_t index);

/// Removes every RDMA device whose network device is in the socket's namespace: what a dead run
/// left behind.
Status remove_rdma_of_namespace(NlSocket& socket);

} // namespace rdmalab::net
