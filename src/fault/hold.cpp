#include "fault/hold.h"

#include "fault/rule.h"
#include "net/netns.h"

#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

namespace rdmalab::fault {

namespace {

constexpr const char* in_name = "rlhold0";
constexpr const char* out_name = "rlhold1";
constexpr std::uint32_t hold_mtu = 9216;
constexpr std::uint32_t fq_handle = 0x726d0000; // "rm:" in hex digits
/// Packets; fq's own defaults are 10000, and 100 of a flow.
constexpr std::uint32_t fq_limit = 1'000'000;

} // namespace

net::Message fq_message(std::uint32_t ifindex)
{
  net::Message message(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE);
  tcmsg header{};
  header.tcm_family = AF_UNSPEC;
  header.tcm_ifindex = static_cast<int>(ifindex);
  header.tcm_handle = fq_handle;
  header.tcm_parent = TC_H_ROOT;
  message.header(header).put_string(TCA_KIND, "fq");
  message.nest(TCA_OPTIONS, [&message] {
    message.put(TCA_FQ_PLIMIT, fq_limit);
    message.put(TCA_FQ_FLOW_PLIMIT, fq_limit);
    message.put(TCA_FQ_RATE_ENABLE, std::uint32_t{0});
    // us; what lies further ahead would be dropped.
    message.put(TCA_FQ_HORIZON, static_cast<std::uint32_t>(max_delay_ns / 1000 * 2));
  });
  return message;
}

Result<Hold> Hold::create(int netns, Queue queue)
{
  TRY_ASSIGN(const auto inside, net::EnteredNamespace::enter(netns));
  Hold hold;
  TRY_ASSIGN(auto socket, net::NlSocket::open(NETLINK_ROUTE));
  hold.socket_ = std::make_unique<net::NlSocket>(std::move(socket));
  net::VethSpec spec;
  spec.device = in_name;
  spec.device_mac = {2, 0xfd, 0, 0, 0, 1};
  spec.peer = out_name;
  spec.peer_mac = {2, 0xfd, 0, 0, 0, 2};
  spec.peer_namespace = netns;
  spec.mtu = hold_mtu;
  TRY_ASSIGN(hold.in_, net::Link::veth(*hold.socket_, spec));
  TRY(net::set_up(*hold.socket_, out_name));
  if (queue == Queue::fq) {
    net::Message message = fq_message(hold.in_.index());
    Status made = hold.socket_->request(message, "make an fq queue for delayed packets");
    if (!made) {
      made.error().hint = "a fault rule that delays needs the kernel's sch_fq";
      return std::move(made).error();
    }
  }
  TRY_ASSIGN(const auto out, net::read_link(*hold.socket_, out_name));
  hold.out_ = out.index;
  TRY(net::wait_running(*hold.socket_, in_name));
  return hold;
}

} // namespace rdmalab::fault
