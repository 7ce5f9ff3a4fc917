#pragma once

#include "base/result.h"
#include "net/link.h"
#include "net/message.h"
#include "net/socket.h"

#include <cstdint>
#include <memory>

namespace rdmalab::fault {

/// RTM_NEWQDISC: an fq at the root of a device that does nothing but keep packets until their
/// departure time: no pacing, no limit that a lab reaches, max_delay_ns ahead at least.
net::Message fq_message(std::uint32_t ifindex);

/// Where delayed packets wait: a veth pair within the fabric's namespace. What is sent into `in`
/// waits in its fq and comes out at `out`. Move-only.
class Hold {
public:
  enum class Queue : std::uint8_t {
    fq,
    none, ///< packets come out at once: for tests on a kernel without fq
  };
  /// `netns`: descriptor of the fabric's namespace.
  static Result<Hold> create(int netns, Queue queue);

  [[nodiscard]] std::uint32_t in() const { return in_.index(); }
  [[nodiscard]] std::uint32_t out() const { return out_; }

private:
  Hold() = default;
  std::unique_ptr<net::NlSocket> socket_;
  net::Link in_; ///< takes its peer along
  std::uint32_t out_ = 0;
};

} // namespace rdmalab::fault
