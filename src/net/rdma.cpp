#include "net/rdma.h"

#include "base/clock.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <rdma/rdma_netlink.h>
#include <spdlog/spdlog.h>

namespace rdmalab::net {

namespace {

constexpr std::uint64_t removal_patience_ns = 5'000'000'000;
constexpr std::uint64_t removal_poll_ns = 1'000'000;

int type_of(int command)
{
  return RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
}

Status delete_device(NlSocket& socket, std::uint32_t index, const std::string& name)
{
  Message message = rdma_delete_link_message(index);
  Status status = socket.request(message, "delete RDMA device " + name);
  // nldev_dellink() answers EINVAL when there is no such device; the poll below finds out.
  if (!status && status.error().number != EINVAL && status.error().number != ENODEV) return status;
  const std::uint64_t deadline = monotonic_ns() + removal_patience_ns;
  for (;;) {
    // Unregistering may go on after the answer when the network device is on its way out, too.
    TRY_ASSIGN(const auto devices, list_rdma(socket));
    if (std::none_of(devices.begin(), devices.end(),
                     [&](const RdmaDevice& device) { return device.index == index; }))
      return {};
    if (!status) return status; // it is there, and was refused
    if (monotonic_ns() > deadline)
      return system_error(ETIMEDOUT, "wait until RDMA device " + name + " is gone");
    sleep_until_ns(monotonic_ns() + removal_poll_ns);
  }
}

} // namespace

Message rdma_new_link_message(const std::string& name, const std::string& type,
                              const std::string& netdev)
{
  Message message(type_of(RDMA_NLDEV_CMD_NEWLINK));
  message.put_string(RDMA_NLDEV_ATTR_DEV_NAME, name);
  message.put_string(RDMA_NLDEV_ATTR_LINK_TYPE, type);
  message.put_string(RDMA_NLDEV_ATTR_NDEV_NAME, netdev);
  return message;
}

Message rdma_delete_link_message(std::uint32_t index)
{
  Message message(type_of(RDMA_NLDEV_CMD_DELLINK));
  message.put(RDMA_NLDEV_ATTR_DEV_INDEX, index);
  return message;
}

Message rdma_counters_message(std::uint32_t index, std::uint32_t port)
{
  Message message(type_of(RDMA_NLDEV_CMD_STAT_GET));
  message.put(RDMA_NLDEV_ATTR_DEV_INDEX, index).put(RDMA_NLDEV_ATTR_PORT_INDEX, port);
  return message;
}

Result<RdmaLink> RdmaLink::create(NlSocket& socket, const std::string& name,
                                  const std::string& type, const std::string& netdev)
{
  const std::string what = "create " + type + " device " + name + " on " + netdev;
  Message message = rdma_new_link_message(name, type, netdev);
  if (Status status = socket.request(message, what); !status) {
    if (status.error().number == EINVAL)
      status.error().hint = "the kernel may lack the module " + (type == "rxe" ? "rdma_rxe" : type);
    return std::move(status).error();
  }
  TRY_ASSIGN(const auto devices, list_rdma(socket));
  for (const RdmaDevice& device : devices)
    if (device.name == name) {
      RdmaLink link;
      link.socket_ = &socket;
      link.index_ = device.index;
      link.name_ = name;
      return link;
    }
  return system_error(ENODEV, what + ": it does not show up");
}

RdmaLink::RdmaLink(RdmaLink&& other) noexcept
    : socket_(std::exchange(other.socket_, nullptr)), index_(other.index_),
      name_(std::move(other.name_))
{}

RdmaLink& RdmaLink::operator=(RdmaLink&& other) noexcept
{
  if (this != &other) {
    (void)remove();
    socket_ = std::exchange(other.socket_, nullptr);
    index_ = other.index_;
    name_ = std::move(other.name_);
  }
  return *this;
}

RdmaLink::~RdmaLink()
{
  if (const Status status = remove(); !status) spdlog::warn("{}", status.error().message());
}

Status RdmaLink::remove()
{
  NlSocket* socket = std::exchange(socket_, nullptr);
  return socket == nullptr ? Status{} : delete_device(*socket, index_, name_);
}

Result<std::vector<RdmaDevice>> list_rdma(NlSocket& socket)
{
  std::vector<RdmaDevice> devices;
  Message all(type_of(RDMA_NLDEV_CMD_GET), NLM_F_DUMP);
  TRY(socket.request(
      all, "list RDMA devices",
      [&](const Reply& reply) {
        const Attributes attributes(reply.payload);
        devices.push_back({attributes.get<std::uint32_t>(RDMA_NLDEV_ATTR_DEV_INDEX).value_or(0),
                           attributes.text(RDMA_NLDEV_ATTR_DEV_NAME),
                           {}});
      },
      [&] { devices.clear(); }));
  for (RdmaDevice& device : devices) {
    Message port(type_of(RDMA_NLDEV_CMD_PORT_GET));
    port.put(RDMA_NLDEV_ATTR_DEV_INDEX, device.index);
    port.put(RDMA_NLDEV_ATTR_PORT_INDEX, std::uint32_t{1});
    // The device may have gone since: then it has no network device.
    (void)socket.request(port, "read the port of " + device.name, [&](const Reply& reply) {
      device.netdev = Attributes(reply.payload).text(RDMA_NLDEV_ATTR_NDEV_NAME);
    });
  }
  return devices;
}

Result<std::map<std::string, std::uint64_t>> rdma_counters(NlSocket& socket, std::uint32_t index)
{
  std::map<std::string, std::uint64_t> counters;
  Message message = rdma_counters_message(index, 1);
  TRY(socket.request(message, "read RDMA counters", [&](const Reply& reply) {
    const auto table = Attributes(reply.payload).find(RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
    for (const Attribute& entry : Attributes(table.value_or(Bytes{}))) {
      const Attributes fields(entry.payload);
      const auto value = fields.get<std::uint64_t>(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE);
      if (value) counters[fields.text(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME)] = *value;
    }
  }));
  return counters;
}

Status remove_rdma_of_namespace(NlSocket& socket)
{
  TRY_ASSIGN(const auto devices, list_rdma(socket));
  for (const RdmaDevice& device : devices)
    if (!device.netdev.empty()) TRY(delete_device(socket, device.index, device.name));
  return {};
}

} // namespace rdmalab::net
