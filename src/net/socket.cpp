#include "net/socket.h"

#include <cerrno>

#include <linux/netlink.h>
#include <netlink/errno.h>
#include <netlink/handlers.h>
#include <sys/socket.h>
#include <sys/time.h>

namespace rdmalab::net {

namespace {

constexpr int receive_buffer = 1 << 20;  ///< bytes in the kernel, for dumps
constexpr int message_buffer = 32 << 10; ///< the largest piece of a dump the kernel sends
constexpr timeval patience{5, 0};        ///< a request that takes longer is an error, not a hang
constexpr int dump_attempts = 10;

/// What one exchange has brought so far.
struct Exchange {
  const std::function<void(const Reply&)>* on_reply = nullptr;
  bool done = false;
  bool interrupted = false;
  int number = 0;
  std::string text;
};

int on_valid(nl_msg* message, void* argument)
{
  auto& exchange = *static_cast<Exchange*>(argument);
  const nlmsghdr* header = nlmsg_hdr(message);
  if ((header->nlmsg_flags & NLM_F_DUMP_INTR) != 0) exchange.interrupted = true;
  if (*exchange.on_reply)
    (*exchange.on_reply)({header->nlmsg_type,
                          {static_cast<const std::byte*>(nlmsg_data(header)),
                           static_cast<std::size_t>(nlmsg_datalen(header))}});
  return NL_OK;
}

int on_end(nl_msg* message, void* argument)
{
  auto& exchange = *static_cast<Exchange*>(argument);
  const nlmsghdr* header = nlmsg_hdr(message);
  if ((header->nlmsg_flags & NLM_F_DUMP_INTR) != 0) exchange.interrupted = true;
  if (header->nlmsg_type == NLMSG_DONE && nlmsg_datalen(header) >= static_cast<int>(sizeof(int))) {
    int result = 0; // a dump that fails on its way ends with a negative errno
    std::memcpy(&result, nlmsg_data(header), sizeof(result));
    if (result < 0) exchange.number = -result;
  }
  exchange.done = true;
  return NL_STOP;
}

/// libnl keeps NLE_* codes only; errno and the extended acknowledgement (NLMSGERR_ATTR_MSG) are
/// read here.
int on_error(sockaddr_nl*, nlmsgerr* error, void* argument)
{
  auto& exchange = *static_cast<Exchange*>(argument);
  exchange.done = true;
  exchange.number = -error->error;
  const auto* start = reinterpret_cast<const std::byte*>(error);
  nlmsghdr header;
  std::memcpy(&header, start - NLMSG_HDRLEN, sizeof(header));
  if ((header.nlmsg_flags & NLM_F_ACK_TLVS) != 0) {
    const std::size_t echoed =
        (header.nlmsg_flags & NLM_F_CAPPED) != 0 ? sizeof(nlmsghdr) : error->msg.nlmsg_len;
    const Bytes payload{start, header.nlmsg_len - NLMSG_HDRLEN};
    exchange.text = Attributes(payload, sizeof(int) + echoed).text(NLMSGERR_ATTR_MSG);
  }
  return NL_STOP;
}

} // namespace

Result<NlSocket> NlSocket::open(int protocol)
{
  const std::string what = "open a netlink socket of protocol " + std::to_string(protocol);
  std::unique_ptr<nl_sock, Free> socket(nl_socket_alloc());
  if (!socket) return system_error(ENOMEM, what);
  errno = 0;
  if (nl_connect(socket.get(), protocol) < 0)
    return system_error(errno != 0 ? errno : EPROTONOSUPPORT, what, Exit::environment);
  const int fd = nl_socket_get_fd(socket.get());
  const int on = 1;
  // Both are refused by very old kernels only, and then just the explanations are missing.
  (void)setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
  (void)setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
  if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0)
    return system_error("set a netlink socket's time-out");
  nl_socket_set_buffer_size(socket.get(), receive_buffer, 0);
  nl_socket_set_msg_buf_size(socket.get(), message_buffer);
  return NlSocket(std::move(socket));
}

Status NlSocket::request(Message& message, const std::string& attempted)
{
  return request(message, attempted, {});
}

Status NlSocket::request(Message& message, const std::string& attempted,
                         const std::function<void(const Reply&)>& on_reply,
                         const std::function<void()>& on_start)
{
  const std::unique_ptr<nl_cb, void (*)(nl_cb*)> callbacks(nl_cb_alloc(NL_CB_DEFAULT), nl_cb_put);
  if (!callbacks) return system_error(ENOMEM, attempted);
  for (int attempt = 0; attempt < dump_attempts; ++attempt) {
    if (on_start) on_start();
    Exchange exchange;
    exchange.on_reply = &on_reply;
    nl_cb_set(callbacks.get(), NL_CB_VALID, NL_CB_CUSTOM, on_valid, &exchange);
    nl_cb_set(callbacks.get(), NL_CB_ACK, NL_CB_CUSTOM, on_end, &exchange);
    nl_cb_set(callbacks.get(), NL_CB_FINISH, NL_CB_CUSTOM, on_end, &exchange);
    nl_cb_err(callbacks.get(), NL_CB_CUSTOM, on_error, &exchange);
    nlmsg_hdr(message.get())->nlmsg_seq = NL_AUTO_SEQ;
    if (nl_send_auto(socket_.get(), message.get()) < 0) return system_error(attempted);
    while (!exchange.done) {
      const int result = nl_recvmsgs(socket_.get(), callbacks.get());
      if (exchange.done) break;
      if (result == -NLE_DUMP_INTR) exchange.interrupted = true;
      if (result == -NLE_AGAIN)
        return system_error(ETIMEDOUT, attempted, Exit::setup, "the kernel did not answer in time");
      if (result < 0 && result != -NLE_DUMP_INTR) return system_error(EIO, attempted);
    }
    if (exchange.number != 0) {
      const std::string reason = exchange.text.empty() ? "" : " (" + exchange.text + ")";
      return system_error(exchange.number, attempted + reason);
    }
    if (!exchange.interrupted) return {};
  }
  return system_error(EAGAIN, attempted + ": what is listed keeps changing");
}

} // namespace rdmalab::net
