#include "traffic/zero_copy.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include <linux/errqueue.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace rdmalab::traffic {

namespace {

/// More than net.core.optmem_max lets a socket have at once.
constexpr std::size_t sends_in_the_books = 4096;

} // namespace

ZeroCopy::ZeroCopy(std::size_t slots) : slot_of_(sends_in_the_books, nobody), pending_of_(slots) {}

void ZeroCopy::sent(std::size_t slot)
{
  slot_of_[sends_++ % slot_of_.size()] = static_cast<std::uint32_t>(slot);
  ++pending_of_[slot];
  ++pending_;
}

void ZeroCopy::complete(std::uint32_t first, std::uint32_t last, bool copied)
{
  // Numbers are 32 bits wide and wrap; a range is never longer than what is pending.
  for (std::uint32_t number = first; number != last + 1; ++number) {
    std::uint32_t& slot = slot_of_[number % slot_of_.size()];
    if (slot == nobody) continue;
    --pending_of_[slot];
    slot = nobody;
    --pending_;
    copied_ += copied ? 1 : 0;
  }
}

int ZeroCopy::collect(int fd)
{
  while (true) {
    alignas(cmsghdr) std::array<char, 256> control{};
    msghdr message{};
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (::recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN ? 0 : errno;
    }
    for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
      if (c->cmsg_level != SOL_IP || c->cmsg_type != IP_RECVERR) continue;
      sock_extended_err error{};
      std::memcpy(&error, CMSG_DATA(c), sizeof error);
      if (error.ee_origin == SO_EE_ORIGIN_ZEROCOPY && error.ee_errno == 0)
        complete(error.ee_info, error.ee_data, (error.ee_code & SO_EE_CODE_ZEROCOPY_COPIED) != 0);
    }
  }
}

} // namespace rdmalab::traffic
