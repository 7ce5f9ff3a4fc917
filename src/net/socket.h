#pragma once

#include "base/result.h"
#include "net/message.h"

#include <functional>
#include <memory>
#include <string>

#include <netlink/socket.h>

namespace rdmalab::net {

/// One message that came back.
struct Reply {
  int type = 0;
  Bytes payload; ///< family header and attributes; valid within the callback only
};

/// A netlink socket of libnl. It belongs to the namespace in which it was opened, whatever the
/// thread does later, so one socket per namespace is enough. Not thread-safe. Move-only.
class NlSocket {
public:
  /// `protocol`: NETLINK_ROUTE, NETLINK_RDMA, …; opened in the calling thread's namespace.
  static Result<NlSocket> open(int protocol);

  /// Sends and waits for the kernel's acknowledgement, 5 s at most. The Error holds `attempted`,
  /// the kernel's errno and, in parentheses, its extended acknowledgement.
  Status request(Message& message, const std::string& attempted);

  /// The same for a request that is answered: `on_reply` is called for each message. A dump that
  /// the kernel found inconsistent is repeated, so `on_start` (optional) is called before each
  /// attempt.
  Status request(Message& message, const std::string& attempted,
                 const std::function<void(const Reply&)>& on_reply,
                 const std::function<void()>& on_start = {});

private:
  struct Free {
    void operator()(nl_sock* socket) const { nl_socket_free(socket); }
  };
  explicit NlSocket(std::unique_ptr<nl_sock, Free> socket) : socket_(std::move(socket)) {}
  std::unique_ptr<nl_sock, Free> socket_;
};

} // namespace rdmalab::net
