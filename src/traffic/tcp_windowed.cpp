#include "base/clock.h"
#include "base/json.h"
#include "traffic/drain.h"
#include "traffic/ending.h"
#include "traffic/meter.h"
#include "traffic/oob.h"
#include "traffic/payload.h"
#include "traffic/poller.h"
#include "traffic/tcp_ends.h"
#include "traffic/tcp_stream.h"
#include "traffic/zero_copy.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <sys/epoll.h>
#include <sys/socket.h>

namespace rdmalab::traffic {

namespace {

/// Message buffers of a stream without a depth that the kernel may read from: as much as it lets a
/// socket queue (tcp_wmem's maximum), within what all streams may have.
constexpr std::uint64_t buffered_bytes = 4U << 20;
constexpr std::uint64_t buffered_bytes_in_all = 32U << 20;

std::uint64_t buffers_of(const EndpointSpec& spec)
{
  const lab::Tcp& tcp = spec.traffic.tcp;
  if (!tcp.zerocopy) return 1; // the kernel has its copy when send() returns
  if (tcp.depth != 0) return tcp.depth;
  const std::uint64_t bytes = std::min(buffered_bytes, buffered_bytes_in_all / tcp.streams);
  return std::max<std::uint64_t>(2, bytes / spec.traffic.message_bytes);
}

/// The connecting end that may send only so much: with a depth, until the receiving application has
/// answered; with MSG_ZEROCOPY, until the kernel is through with a buffer.
class TcpWindowed : public Worker {
public:
  static Result<std::unique_ptr<Worker>> connect(const EndpointSpec& spec,
                                                 std::uint64_t deadline_ns)
  {
    auto self = std::unique_ptr<TcpWindowed>(new TcpWindowed(spec));
    TRY_ASSIGN(TcpDial dialed, dial_streams(spec, deadline_ns));
    self->oob_ = JsonSocket(std::move(dialed.oob), "the target");
    for (Fd& fd : dialed.streams) {
      if (self->zerocopy_) TRY(allow_zerocopy(fd.get()));
      Stream stream(std::move(fd), self->buffers_);
      stream.messages.resize(self->buffers_ * self->payload_.bytes());
      for (std::uint64_t i = 0; i < self->buffers_; ++i) self->payload_.fill(self->at(stream, i));
      self->streams_.push_back(std::move(stream));
    }
    TRY_ASSIGN(const Json ready, self->oob_.exchange(Json{{"ready", true}}, deadline_ns));
    return std::unique_ptr<Worker>(std::move(self));
  }

  [[nodiscard]] std::vector<StreamId> streams() const override
  {
    std::vector<StreamId> ids;
    for (const Stream& stream : streams_) ids.push_back({0, 0, local_port(stream.fd.get())});
    return ids;
  }

  Result<record::Flow> run(const Schedule& schedule) override
  {
    record::Flow flow = empty_flow(spec_, schedule);
    const std::uint64_t deadline = schedule.window_end_ns + transport_drain_ns(spec_.traffic);
    // One connection needs no poller, unless completions come beside the answers.
    if (streams_.size() == 1 && !zerocopy_)
      TRY(drive_alone(schedule, deadline, flow));
    else
      TRY(drive(schedule, deadline, flow));
    if (!all_through())
      end_with(flow, "drain", {},
               "drain: a message was not sent and answered within the time that this traffic has "
               "after the window");
    if (zerocopy_)
      for (const Stream& s : streams_) {
        flow.tcp_info["zerocopy_sends"] += s.zerocopy.sends();
        flow.tcp_info["zerocopy_copied"] += s.zerocopy.copied();
      }
    say_goodbye(streams_, oob_, schedule.window_end_ns + drain_budget_ns(spec_.traffic), flow);
    return flow;
  }

private:
  struct Stream {
    Stream(Fd connection, std::size_t buffers) : fd(std::move(connection)), zerocopy(buffers) {}

    Fd fd;
    std::vector<std::byte> messages; ///< a ring; message n is in place n % buffers_
    std::uint64_t started = 0;       ///< messages begun
    std::uint64_t finished = 0;      ///< messages wholly handed to the kernel
    std::uint64_t answered = 0;
    std::size_t sent = 0; ///< bytes of the message at hand
    ZeroCopy zerocopy;
    std::array<std::byte, 64 * sizeof(std::uint64_t)> answers{};
    std::size_t held = 0; ///< bytes of an answer that has come in part
  };

  explicit TcpWindowed(const EndpointSpec& spec)
      : spec_(spec), payload_(spec.seed, spec.traffic.message_bytes),
        depth_(spec.traffic.tcp.depth), zerocopy_(spec.traffic.tcp.zerocopy),
        buffers_(buffers_of(spec))
  {}

  std::byte* at(Stream& s, std::uint64_t number) const
  {
    return s.messages.data() + number % buffers_ * payload_.bytes();
  }

  [[nodiscard]] bool may_begin(const Stream& s) const
  {
    if (depth_ != 0 && s.started - s.answered >= depth_) return false;
    return s.zerocopy.free(s.started % buffers_);
  }

  [[nodiscard]] bool through(const Stream& s) const
  {
    return s.started == s.finished && (depth_ == 0 || s.answered == s.started) &&
           s.zerocopy.pending() == 0;
  }

  [[nodiscard]] bool all_through() const
  {
    return std::all_of(streams_.begin(), streams_.end(),
                       [this](const Stream& s) { return through(s); });
  }

  /// Sends on stream `index` what may be sent and the kernel takes; nothing new once
  /// `last_start_ns` is over. 0, or the errno that broke it.
  int send_some(std::size_t index, std::uint64_t last_start_ns)
  {
    Stream& s = streams_[index];
    const int flags = MSG_NOSIGNAL | (zerocopy_ ? MSG_ZEROCOPY : 0);
    while (true) {
      if (s.started == s.finished) {
        if (!may_begin(s)) return 0;
        const std::uint64_t now = monotonic_ns();
        over_ = now >= last_start_ns;
        if (over_) return 0;
        payload_.stamp(at(s, s.started), index, s.started, now);
        ++s.started;
        s.sent = 0;
      }
      if (zerocopy_ && !s.zerocopy.room()) return 0; // a completion goes on
      const ssize_t n =
          ::send(s.fd.get(), at(s, s.finished) + s.sent, payload_.bytes() - s.sent, flags);
      if (n < 0) {
        if (errno == EINTR) continue;
        // ENOBUFS: too many completions under way (net.core.optmem_max); each makes room.
        if (errno == EAGAIN || (errno == ENOBUFS && s.zerocopy.pending() > 0)) return 0;
        return errno;
      }
      if (zerocopy_) s.zerocopy.sent(s.finished % buffers_);
      s.sent += static_cast<std::size_t>(n);
      if (s.sent == payload_.bytes()) ++s.finished;
    }
  }

  /// Takes the answers that are there; the first read waits if the descriptor does. 0, or the
  /// errno.
  int take_answers(std::size_t index)
  {
    Stream& s = streams_[index];
    for (int flags = 0;; flags = MSG_DONTWAIT) {
      const std::size_t room = s.answers.size() - s.held;
      const ssize_t n = ::recv(s.fd.get(), s.answers.data() + s.held, room, flags);
      if (n == 0) return ECONNRESET;
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return errno == EAGAIN ? 0 : errno;
      s.held += static_cast<std::size_t>(n);
      std::size_t done = 0;
      for (; s.held - done >= sizeof(std::uint64_t); done += sizeof(std::uint64_t)) {
        std::uint64_t number = 0;
        std::memcpy(&number, s.answers.data() + done, sizeof number);
        if (number != s.answered || s.answered == s.started) return EPROTO;
        ++s.answered;
      }
      s.held -= done;
      if (s.held != 0) std::memmove(s.answers.data(), s.answers.data() + done, s.held);
      if (static_cast<std::size_t>(n) < room) return 0;
    }
  }

  /// One connection, as a program would that has no other: send, then wait for an answer.
  Status drive_alone(const Schedule& schedule, std::uint64_t deadline, record::Flow& flow)
  {
    const Stream& s = streams_[0];
    TRY(let_calls_wait(s.fd.get(), schedule.window_end_ns));
    sleep_until_ns(schedule.start_ns);
    bool noted = false;
    while (true) {
      int number = send_some(0, schedule.window_end_ns);
      const char* verb = number != 0 ? "send on" : "receive answers on";
      if (over_ && !noted) {
        note_tcp_info(s.fd.get(), flow);
        TRY(let_calls_wait(s.fd.get(), deadline));
        noted = true;
      }
      if (number == 0 && over_ && through(s)) return {};
      if (number == 0 && s.started == s.finished) number = take_answers(0);
      if (number != 0) {
        end_with(flow, "stream", errno_name(number), stream_words(verb, 0, number));
        break;
      }
      // What waited in vain until the window's end finds out here.
      if (!over_ && s.started != s.answered) {
        if (const std::uint64_t now = monotonic_ns(); now >= schedule.window_end_ns) over_ = true;
      }
      if (over_ && noted && monotonic_ns() >= deadline) break;
    }
    if (!noted) note_tcp_info(s.fd.get(), flow);
    return {};
  }

  /// Several, or with completions, by a poller.
  Status drive(const Schedule& schedule, std::uint64_t deadline, record::Flow& flow)
  {
    TRY_ASSIGN(Poller poller, Poller::create());
    // Edges: a stream that waits for an answer or a completion can well be writable.
    for (std::size_t i = 0; i < streams_.size(); ++i)
      TRY(poller.add(streams_[i].fd.get(), EPOLLIN | EPOLLOUT | EPOLLET,
                     static_cast<std::uint32_t>(i)));
    TRY(poller.add(oob_.fd(), EPOLLIN, oob_tag));
    sleep_until_ns(schedule.start_ns);
    while (flow.outcome == "ok" && monotonic_ns() < schedule.window_end_ns)
      TRY(serve(schedule.window_end_ns, schedule.window_end_ns, poller, flow));
    for (const Stream& stream : streams_) note_tcp_info(stream.fd.get(), flow);
    while (flow.outcome == "ok" && !all_through() && monotonic_ns() < deadline)
      TRY(serve(deadline, 0, poller, flow));
    return {};
  }

  /// Waits once, and does what can be done then.
  Status serve(std::uint64_t until, std::uint64_t last_start_ns, Poller& poller, record::Flow& flow)
  {
    TRY_ASSIGN(const auto events, poller.wait(until));
    for (const epoll_event& event : events) {
      if (event.data.u32 == oob_tag) {
        end_with(flow, "peer", {}, "the target ended before the traffic did");
        return {};
      }
      Stream& stream = streams_[event.data.u32];
      int number = 0;
      if ((event.events & EPOLLERR) != 0) number = stream.zerocopy.collect(stream.fd.get());
      if (number == 0 && (event.events & (EPOLLIN | EPOLLHUP)) != 0)
        number = take_answers(event.data.u32);
      const char* verb = number != 0 ? "receive answers on" : "send on";
      if (number == 0) number = send_some(event.data.u32, last_start_ns);
      if (number != 0) {
        end_with(flow, "stream", errno_name(number), stream_words(verb, event.data.u32, number));
        return {};
      }
    }
    return {};
  }

  EndpointSpec spec_;
  Payload payload_;
  JsonSocket oob_;
  std::vector<Stream> streams_;
  std::uint64_t depth_; ///< 0: no bound, and no answers
  bool zerocopy_;
  std::uint64_t buffers_; ///< of a stream
  bool over_ = false;     ///< the last message that could have been begun was not: time is up
};

} // namespace

Result<std::unique_ptr<Worker>> make_tcp_windowed_initiator(const EndpointSpec& spec,
                                                            std::uint64_t deadline_ns)
{
  return TcpWindowed::connect(spec, deadline_ns);
}

} // namespace rdmalab::traffic
