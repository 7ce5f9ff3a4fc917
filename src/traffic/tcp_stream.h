#pragma once

#include "base/fd.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <string>

/// What one TCP connection of a traffic needs from the kernel.
namespace rdmalab::traffic {

/// Each connection starts with one word that tells what it is: 0 the out-of-band one, n stream n
/// - 1.
Status send_greeting(int fd, std::uint64_t word);
Result<std::uint64_t> receive_greeting(int fd, std::uint64_t deadline_ns);

/// Non-blocking; Nagle's algorithm as asked; at most `unsent_bytes` (0: no bound) wait in the send
/// queue beyond what the congestion window lets out (TCP_NOTSENT_LOWAT), so that latency and the
/// time to drain mean something.
Status prepare_sender(int fd, bool nodelay, std::uint64_t unsent_bytes);

/// Non-blocking.
Status prepare_receiver(int fd);

/// What is sent on a stream leaves at once (TCP_NODELAY).
Status send_at_once(int fd);

/// MSG_ZEROCOPY means something (SO_ZEROCOPY).
Status allow_zerocopy(int fd);

/// The port of this end; 0 if the connection is gone.
std::uint16_t local_port(int fd);

/// A stream that is read alone needs no poller: reads wait for data, until the time is up (EAGAIN).
Status let_reads_wait(int fd, std::uint64_t until_ns);

/// The same for sends and reads.
Status let_calls_wait(int fd, std::uint64_t until_ns);

/// Adds a connection's tcp_info (linux/tcp.h) to `sums`: retransmits, bytes_retransmitted,
/// bytes_sent, lost, reordering_seen, rto_events (kernel 6.7 and later), snd_cwnd in packets,
/// rtt_us and min_rtt_us (the largest of the streams). Returns the MSS in bytes.
Result<std::uint32_t> add_tcp_info(int fd, std::map<std::string, std::uint64_t>& sums);

} // namespace rdmalab::traffic
