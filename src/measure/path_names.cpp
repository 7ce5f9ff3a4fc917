#include "measure/path_names.h"

#include "path_ledger.h"

#include <map>

#include <sys/syscall.h>

namespace rdmalab::measure {

std::string syscall_name(std::uint32_t number)
{
  // What endpoints and common network programs call; only calls that every architecture has.
  static const std::map<std::uint32_t, std::string> names{
      {SYS_read, "read"},
      {SYS_write, "write"},
      {SYS_readv, "readv"},
      {SYS_writev, "writev"},
      {SYS_close, "close"},
      {SYS_ioctl, "ioctl"},
      {SYS_ppoll, "ppoll"},
      {SYS_pselect6, "pselect6"},
      {SYS_epoll_pwait, "epoll_pwait"},
      {SYS_epoll_ctl, "epoll_ctl"},
#ifdef SYS_epoll_wait
      {SYS_epoll_wait, "epoll_wait"},
      {SYS_poll, "poll"},
      {SYS_select, "select"},
#endif
      {SYS_sendto, "sendto"},
      {SYS_recvfrom, "recvfrom"},
      {SYS_sendmsg, "sendmsg"},
      {SYS_recvmsg, "recvmsg"},
      {SYS_sendmmsg, "sendmmsg"},
      {SYS_recvmmsg, "recvmmsg"},
      {SYS_getsockopt, "getsockopt"},
      {SYS_setsockopt, "setsockopt"},
      {SYS_futex, "futex"},
      {SYS_clock_gettime, "clock_gettime"},
      {SYS_clock_nanosleep, "clock_nanosleep"},
      {SYS_nanosleep, "nanosleep"},
      {SYS_sched_yield, "sched_yield"},
      {SYS_mmap, "mmap"},
      {SYS_munmap, "munmap"},
      {SYS_mprotect, "mprotect"},
      {SYS_madvise, "madvise"},
      {SYS_brk, "brk"},
      {SYS_timerfd_settime, "timerfd_settime"},
      {SYS_getrusage, "getrusage"},
      {SYS_getpid, "getpid"},
  };
  const auto found = names.find(number);
  return found != names.end() ? found->second : "call " + std::to_string(number);
}

std::string stage_name(std::uint32_t kind, std::uint32_t stage)
{
  static const char* const bases[] = {"application", "syscall", "rxe", "softirq"};
  static const char* const stages[] = {"",    "copy",   "checksum", "stack",
                                       "rxe", "device", "wakeup",   "scheduler"};
  return stage == PATH_BASE ? bases[kind & 3] : stages[stage & 7];
}

std::string stage_of_function(const std::string& function)
{
  static const std::map<std::string, std::string> stages{
      {"sk_page_frag_refill", "copy"},   {"tcp_stream_alloc_skb", "copy"},
      {"tcp_write_xmit", "copy"},        {"skb_copy_datagram_iter", "copy"},
      {"rxe_mr_copy", "copy"},           {"rxe_icrc_check", "checksum"},
      {"rxe_icrc_generate", "checksum"}, {"rxe_xmit_packet", "stack"},
      {"rxe_udp_encap_recv", "rxe"},     {"rxe_post_send", "rxe"},
      {"tcp_sendmsg", "stack"},          {"tcp_recvmsg", "stack"},
      {"schedule", "scheduler"},
  };
  const auto found = stages.find(function);
  return found != stages.end() ? found->second : std::string();
}

} // namespace rdmalab::measure
