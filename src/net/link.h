#pragma once

#include "base/result.h"
#include "net/address.h"
#include "net/message.h"
#include "net/netns.h"
#include "net/socket.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace rdmalab::net {

/// A veth pair: `device` in the namespace of the socket that makes it, `peer` in another one.
struct VethSpec {
  std::string device;
  Mac device_mac{};
  std::string peer;
  Mac peer_mac{};
  int peer_namespace = -1; ///< descriptor
  std::uint32_t mtu = 1500;
  std::uint32_t master = 0; ///< index of the bridge that `device` joins, 0: none
};

/// What RTM_GETLINK tells of a device.
struct LinkState {
  std::uint32_t index = 0;
  std::string name;
  std::string mac;
  std::uint32_t mtu = 0;
  std::string qdisc;    ///< of the root: "noqueue" for a veth without one
  bool up = false;      ///< administratively
  bool running = false; ///< up, with carrier, its queue active
  std::map<std::string, std::uint64_t>
      statistics; ///< rtnl_link_stats64 by its own names; empty if not asked for
};

/// RTM_NEWLINK: both ends with names, MACs, MTU and one queue each; `device` up, the peer not yet
/// (the kernel configures the peer before the two are tied together, and a veth without a peer
/// can't go up).
Message veth_message(const VethSpec& spec);
/// RTM_NEWLINK: a bridge that is up, without spanning tree, without multicast snooping.
Message bridge_message(const std::string& name, const Mac& mac, std::uint32_t mtu);
/// RTM_NEWLINK: an ifb that is up, with one queue.
Message ifb_message(const std::string& name, std::uint32_t mtu);
/// RTM_SETLINK by name.
Message up_message(const std::string& name);

/// A device that we made; deleted when the object dies. It keeps a pointer to the socket that made
/// it, which must outlive it and stay where it is. A device that its namespace, its peer or its
/// bridge took along is gone already: that is success. Move-only.
class Link {
public:
  Link() = default;
  static Result<Link> veth(NlSocket& socket, const VethSpec& spec);
  static Result<Link> bridge(NlSocket& socket, const std::string& name, const Mac& mac,
                             std::uint32_t mtu);
  static Result<Link> ifb(NlSocket& socket, const std::string& name, std::uint32_t mtu);

  Link(Link&& other) noexcept;
  Link& operator=(Link&& other) noexcept;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link();

  Status remove();
  /// The device dies with its namespace: nothing is to be deleted.
  void release() { socket_ = nullptr; }

  [[nodiscard]] std::uint32_t index() const { return index_; }
  [[nodiscard]] const std::string& name() const { return name_; }

private:
  static Result<Link> make(NlSocket& socket, Message message, const std::string& name,
                           const std::string& attempted);
  NlSocket* socket_ = nullptr;
  std::uint32_t index_ = 0;
  std::string name_;
};

/// Sets a device of the socket's namespace up, "lo" for instance.
Status set_up(NlSocket& socket, const std::string& name);
/// Index, queue, MTU and, if asked for, statistics of a device; ENODEV if there is none.
Result<LinkState> read_link(NlSocket& socket, const std::string& name, bool statistics = false);
/// Waits, 1 s at most, until the device can transmit: until its carrier was seen, its queue drops
/// everything.
Result<LinkState> wait_running(NlSocket& socket, const std::string& name);

/// Decodes the payload of an RTM_NEWLINK.
LinkState decode_link(Bytes payload);

} // namespace rdmalab::net
