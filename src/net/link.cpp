#include "net/link.h"

#include "base/clock.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <spdlog/spdlog.h>

namespace rdmalab::net {

namespace {

constexpr std::uint64_t carrier_patience_ns = 1'000'000'000;
constexpr std::uint64_t carrier_poll_ns = 500'000;

ifinfomsg link_header(bool up)
{
  ifinfomsg header{};
  header.ifi_family = AF_UNSPEC;
  if (up) header.ifi_flags = header.ifi_change = IFF_UP;
  return header;
}

/// One queue, whatever the number of CPUs: a fabric port is one FIFO.
void put_basics(Message& message, const std::string& name, const Mac& mac, std::uint32_t mtu)
{
  message.put_string(IFLA_IFNAME, name).put(IFLA_ADDRESS, mac).put(IFLA_MTU, mtu);
  message.put(IFLA_NUM_TX_QUEUES, std::uint32_t{1}).put(IFLA_NUM_RX_QUEUES, std::uint32_t{1});
}

/// rtnl_link_stats64's fields in their order; later kernels append to them.
constexpr const char* statistic_names[] = {
    "rx_packets",        "tx_packets",        "rx_bytes",         "tx_bytes",
    "rx_errors",         "tx_errors",         "rx_dropped",       "tx_dropped",
    "multicast",         "collisions",        "rx_length_errors", "rx_over_errors",
    "rx_crc_errors",     "rx_frame_errors",   "rx_fifo_errors",   "rx_missed_errors",
    "tx_aborted_errors", "tx_carrier_errors", "tx_fifo_errors",   "tx_heartbeat_errors",
    "tx_window_errors",  "rx_compressed",     "tx_compressed",    "rx_nohandler"};

} // namespace

Message veth_message(const VethSpec& spec)
{
  Message message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  message.header(link_header(true));
  put_basics(message, spec.device, spec.device_mac, spec.mtu);
  if (spec.master != 0) message.put(IFLA_MASTER, spec.master);
  message.nest(IFLA_LINKINFO, [&] {
    message.put_string(IFLA_INFO_KIND, "veth");
    message.nest(IFLA_INFO_DATA, [&] {
      message.nest(VETH_INFO_PEER, [&] {
        message.header(link_header(false));
        put_basics(message, spec.peer, spec.peer_mac, spec.mtu);
        message.put(IFLA_NET_NS_FD, static_cast<std::uint32_t>(spec.peer_namespace));
      });
    });
  });
  return message;
}

Message bridge_message(const std::string& name, const Mac& mac, std::uint32_t mtu)
{
  Message message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  message.header(link_header(true));
  message.put_string(IFLA_IFNAME, name).put(IFLA_ADDRESS, mac).put(IFLA_MTU, mtu);
  message.nest(IFLA_LINKINFO, [&] {
    message.put_string(IFLA_INFO_KIND, "bridge");
    message.nest(IFLA_INFO_DATA, [&] {
      message.put(IFLA_BR_FORWARD_DELAY, std::uint32_t{0});
      message.put(IFLA_BR_STP_STATE, std::uint32_t{0});
      message.put(IFLA_BR_MCAST_SNOOPING, std::uint8_t{0});
    });
  });
  return message;
}

Message ifb_message(const std::string& name, std::uint32_t mtu)
{
  Message message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  message.header(link_header(true));
  message.put_string(IFLA_IFNAME, name).put(IFLA_MTU, mtu);
  message.put(IFLA_NUM_TX_QUEUES, std::uint32_t{1}).put(IFLA_NUM_RX_QUEUES, std::uint32_t{1});
  message.nest(IFLA_LINKINFO, [&] { message.put_string(IFLA_INFO_KIND, "ifb"); });
  return message;
}

Message up_message(const std::string& name)
{
  Message message(RTM_SETLINK);
  message.header(link_header(true)).put_string(IFLA_IFNAME, name);
  return message;
}

Result<Link> Link::make(NlSocket& socket, Message message, const std::string& name,
                        const std::string& attempted)
{
  TRY(socket.request(message, attempted));
  Link link;
  link.name_ = name;
  TRY_ASSIGN(const LinkState state, read_link(socket, name));
  link.socket_ = &socket;
  link.index_ = state.index;
  return link;
}

Result<Link> Link::veth(NlSocket& socket, const VethSpec& spec)
{
  return make(socket, veth_message(spec), spec.device,
              "create veth pair " + spec.device + "/" + spec.peer);
}

Result<Link> Link::bridge(NlSocket& socket, const std::string& name, const Mac& mac,
                          std::uint32_t mtu)
{
  return make(socket, bridge_message(name, mac, mtu), name, "create bridge " + name);
}

Result<Link> Link::ifb(NlSocket& socket, const std::string& name, std::uint32_t mtu)
{
  return make(socket, ifb_message(name, mtu), name, "create ifb " + name);
}

Link::Link(Link&& other) noexcept
    : socket_(std::exchange(other.socket_, nullptr)), index_(other.index_),
      name_(std::move(other.name_))
{}

Link& Link::operator=(Link&& other) noexcept
{
  if (this != &other) {
    (void)remove();
    socket_ = std::exchange(other.socket_, nullptr);
    index_ = other.index_;
    name_ = std::move(other.name_);
  }
  return *this;
}

Link::~Link()
{
  if (const Status status = remove(); !status) spdlog::warn("{}", status.error().message());
}

Status Link::remove()
{
  NlSocket* socket = std::exchange(socket_, nullptr);
  if (socket == nullptr) return {};
  Message message(RTM_DELLINK);
  ifinfomsg header{};
  header.ifi_index = static_cast<int>(index_);
  message.header(header);
  Status status = socket->request(message, "delete device " + name_);
  if (!status && status.error().number == ENODEV) return {};
  return status;
}

Status set_up(NlSocket& socket, const std::string& name)
{
  Message message = up_message(name);
  return socket.request(message, "set " + name + " up");
}

LinkState decode_link(Bytes payload)
{
  LinkState state;
  if (const auto header = value_of<ifinfomsg>(payload)) {
    state.index = static_cast<std::uint32_t>(header->ifi_index);
    state.up = (header->ifi_flags & IFF_UP) != 0;
  }
  const Attributes attributes(payload, sizeof(ifinfomsg));
  state.name = attributes.text(IFLA_IFNAME);
  state.qdisc = attributes.text(IFLA_QDISC);
  state.mtu = attributes.get<std::uint32_t>(IFLA_MTU).value_or(0);
  if (const auto mac = attributes.get<Mac>(IFLA_ADDRESS)) state.mac = to_string(*mac);
  // Devices without link watch (lo, ifb, bridge without ports' say) stay at UNKNOWN and just work.
  const auto operation = attributes.get<std::uint8_t>(IFLA_OPERSTATE).value_or(IF_OPER_DOWN);
  state.running = state.up && (operation == IF_OPER_UP || operation == IF_OPER_UNKNOWN) &&
                  state.qdisc != "noop";
  if (const auto bytes = attributes.find(IFLA_STATS64)) {
    Bytes rest = *bytes;
    for (const char* name : statistic_names) {
      const auto value = value_of<std::uint64_t>(rest);
      if (!value) break;
      state.statistics[name] = *value;
      rest = rest.subspan(sizeof(*value));
    }
  }
  return state;
}

Result<LinkState> read_link(NlSocket& socket, const std::string& name, bool statistics)
{
  Message message(RTM_GETLINK);
  message.header(ifinfomsg{}).put_string(IFLA_IFNAME, name);
  // Summing statistics, IPv6's among them, costs more than all the rest together.
  if (!statistics) message.put(IFLA_EXT_MASK, std::uint32_t{RTEXT_FILTER_SKIP_STATS});
  LinkState state;
  TRY(socket.request(message, "read device " + name,
                     [&](const Reply& reply) { state = decode_link(reply.payload); }));
  return state;
}

Result<LinkState> wait_running(NlSocket& socket, const std::string& name)
{
  const std::uint64_t deadline = monotonic_ns() + carrier_patience_ns;
  for (;;) {
    // Kernels from 6.8 on settle a pending carrier change within RTM_GETLINK itself.
    TRY_ASSIGN(LinkState state, read_link(socket, name));
    if (state.running) return state;
    if (monotonic_ns() > deadline) return system_error(ETIMEDOUT, "wait for carrier on " + name);
    sleep_until_ns(monotonic_ns() + carrier_poll_ns);
  }
}

} // namespace rdmalab::net
