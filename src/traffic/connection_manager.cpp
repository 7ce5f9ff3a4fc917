#include "traffic/connection_manager.h"

#include "base/clock.h"
#include "traffic/json_socket.h"

#include <cerrno>

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_cma.h>

namespace rdmalab::traffic {

namespace {

constexpr int resolve_ms = 5'000;
/// iWARP's listener is a TCP socket, and the out-of-band exchange has the traffic's port.
constexpr std::uint16_t iwarp_port_offset = 1'000;

Result<sockaddr_in> cm_address(const std::string& ip, std::uint16_t port)
{
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (::inet_pton(AF_INET, ip.c_str(), &address.sin_addr) != 1)
    return Error{Exit::setup, "read IPv4 address '" + ip + "'", 0, {}, {}};
  return address;
}

Result<ibv_qp_attr> attributes_for(rdma_cm_id* id, ibv_qp_state state)
{
  ibv_qp_attr attr{};
  attr.qp_state = state;
  int mask = 0;
  if (::rdma_init_qp_attr(id, &attr, &mask) != 0)
    return system_error("ask the connection manager for a QP's attributes", Exit::setup);
  return attr;
}

Result<CmTerms> terms_of(rdma_cm_id* id)
{
  TRY_ASSIGN(const ibv_qp_attr receiving, attributes_for(id, IBV_QPS_RTR));
  TRY_ASSIGN(const ibv_qp_attr sending, attributes_for(id, IBV_QPS_RTS));
  return CmTerms{sending.sq_psn, receiving.dest_qp_num, receiving.rq_psn};
}

} // namespace

void ConnectionManager::ChannelCloser::operator()(rdma_event_channel* channel) const
{
  ::rdma_destroy_event_channel(channel);
}

void ConnectionManager::IdDestroyer::operator()(rdma_cm_id* id) const
{
  static_cast<void>(::rdma_destroy_id(id));
}

Result<ConnectionManager> ConnectionManager::open(const EndpointSpec& spec)
{
  ConnectionManager cm(spec);
  cm.channel_.reset(::rdma_create_event_channel());
  if (!cm.channel_)
    return system_error("open /dev/infiniband/rdma_cm", Exit::environment, "modprobe rdma_ucm");
  const int fd = cm.channel_->fd;
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  if (spec.role == Role::initiator) return cm;
  rdma_cm_id* id = nullptr;
  if (::rdma_create_id(cm.channel_.get(), &id, nullptr, RDMA_PS_TCP) != 0)
    return system_error("make a listening id of the connection manager");
  cm.listener_.reset(id);
  TRY_ASSIGN(sockaddr_in address, cm_address(spec.local_ip, cm.port()));
  if (::rdma_bind_addr(id, reinterpret_cast<sockaddr*>(&address)) != 0 ||
      ::rdma_listen(id, static_cast<int>(spec.traffic.verbs.qps)) != 0)
    return system_error("listen by the connection manager on " + spec.local_ip, Exit::setup);
  return cm;
}

Result<rdma_cm_id*> ConnectionManager::await(int kind, const char* what, std::uint64_t deadline_ns)
{
  while (true) {
    rdma_cm_event* event = nullptr;
    if (::rdma_get_cm_event(channel_.get(), &event) == 0) {
      rdma_cm_id* id = event->id;
      const auto came = event->event;
      const int status = event->status;
      ::rdma_ack_cm_event(event);
      if (static_cast<int>(came) == kind) return id;
      return Error{Exit::setup,
                   std::string("wait for the connection manager to ") + what + ": " +
                       ::rdma_event_str(came) + ", status " + std::to_string(status),
                   0,
                   {},
                   {}};
    }
    if (errno != EAGAIN && errno != EINTR)
      return system_error(std::string("wait for the connection manager to ") + what, Exit::setup);
    TRY_ASSIGN(const bool ready, wait_for(channel_->fd, POLLIN, deadline_ns));
    if (!ready)
      return Error{
          Exit::timeout, std::string("wait for the connection manager to ") + what, 0, {}, {}};
  }
}

std::uint16_t ConnectionManager::port() const
{
  return static_cast<std::uint16_t>(spec_.port +
                                    (over_iwarp(spec_.traffic) ? iwarp_port_offset : 0));
}

Result<rdma_cm_id*> ConnectionManager::resolve(std::uint64_t deadline_ns)
{
  rdma_cm_id* id = nullptr;
  if (::rdma_create_id(channel_.get(), &id, nullptr, RDMA_PS_TCP) != 0)
    return system_error("make an id of the connection manager");
  ids_.emplace_back(id);
  TRY_ASSIGN(sockaddr_in from, cm_address(spec_.local_ip, 0));
  TRY_ASSIGN(sockaddr_in to, cm_address(spec_.peer_ip, port()));
  if (::rdma_resolve_addr(id, reinterpret_cast<sockaddr*>(&from), reinterpret_cast<sockaddr*>(&to),
                          resolve_ms) != 0)
    return system_error("resolve " + spec_.peer_ip + " by the connection manager", Exit::setup);
  TRY_ASSIGN(rdma_cm_id * resolved,
             await(RDMA_CM_EVENT_ADDR_RESOLVED, "resolve the address", deadline_ns));
  if (::rdma_resolve_route(resolved, resolve_ms) != 0)
    return system_error("resolve the route to " + spec_.peer_ip, Exit::setup);
  return await(RDMA_CM_EVENT_ROUTE_RESOLVED, "resolve the route", deadline_ns);
}

Result<CmTerms> ConnectionManager::negotiate(std::uint32_t qp_number, std::uint8_t reads,
                                             std::uint64_t deadline_ns)
{
  qp_number_ = qp_number;
  reads_ = reads;
  if (spec_.role == Role::target) {
    TRY_ASSIGN(rdma_cm_id * asking,
               await(RDMA_CM_EVENT_CONNECT_REQUEST, "be asked for a connection", deadline_ns));
    ids_.emplace_back(asking);
    return terms_of(asking);
  }
  TRY_ASSIGN(rdma_cm_id * id, resolve(deadline_ns));
  rdma_conn_param wanted{};
  wanted.qp_num = qp_number;
  wanted.responder_resources = wanted.initiator_depth = reads;
  wanted.retry_count = wanted.rnr_retry_count = 7;
  if (::rdma_connect(id, &wanted) != 0)
    return system_error("ask " + spec_.peer_ip + " for a connection", Exit::setup);
  TRY_ASSIGN(rdma_cm_id * answered,
             await(RDMA_CM_EVENT_CONNECT_RESPONSE, "be answered", deadline_ns));
  return terms_of(answered);
}

Status ConnectionManager::confirm(std::uint64_t deadline_ns)
{
  rdma_cm_id* id = ids_.back().get();
  if (spec_.role == Role::initiator) {
    if (::rdma_establish(id) != 0) return system_error("confirm a connection", Exit::setup);
    return {};
  }
  rdma_conn_param granted{};
  granted.qp_num = qp_number_;
  granted.responder_resources = granted.initiator_depth = reads_;
  granted.rnr_retry_count = 7;
  if (::rdma_accept(id, &granted) != 0) return system_error("accept a connection", Exit::setup);
  TRY_ASSIGN(rdma_cm_id * established,
             await(RDMA_CM_EVENT_ESTABLISHED, "have the connection confirmed", deadline_ns));
  return established == id ? Status{}
                           : Status(Error{Exit::setup, "confirm connections in order", 0, {}, {}});
}

Result<std::uint16_t> ConnectionManager::establish(std::uint32_t qp_number, std::uint8_t reads,
                                                   std::uint64_t deadline_ns)
{
  rdma_conn_param terms{};
  terms.qp_num = qp_number;
  terms.responder_resources = terms.initiator_depth = reads;
  if (spec_.role == Role::initiator) {
    TRY_ASSIGN(rdma_cm_id * id, resolve(deadline_ns));
    if (::rdma_connect(id, &terms) != 0)
      return system_error("ask " + spec_.peer_ip + " for a connection", Exit::setup);
    TRY_ASSIGN(id, await(RDMA_CM_EVENT_ESTABLISHED, "be answered", deadline_ns));
    return ntohs(::rdma_get_src_port(id));
  }
  TRY_ASSIGN(rdma_cm_id * asking,
             await(RDMA_CM_EVENT_CONNECT_REQUEST, "be asked for a connection", deadline_ns));
  ids_.emplace_back(asking);
  if (::rdma_accept(asking, &terms) != 0) return system_error("accept a connection", Exit::setup);
  TRY(await(RDMA_CM_EVENT_ESTABLISHED, "have the connection confirmed", deadline_ns));
  return port();
}

} // namespace rdmalab::traffic
