#include "base/clock.h"
#include "base/json.h"
#include "traffic/drain.h"
#include "traffic/ending.h"
#include "traffic/meter.h"
#include "traffic/oob.h"
#include "traffic/payload.h"
#include "traffic/poller.h"
#include "traffic/ring.h"
#include "traffic/tcp_ends.h"
#include "traffic/tcp_stream.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace rdmalab::traffic {

namespace {

/// A read takes what is there, up to this. No SO_RCVLOWAT: with it Linux
/// acknowledges every second segment until the mark is reached (tcp_input.c,
/// __tcp_ack_snd_check()), which cost a fifth of a guest's goodput.
constexpr std::uint64_t read_bytes = 256U << 10;

/// The accepting and receiving end. With a depth it answers each message with its number.
class TcpTarget : public Worker {
public:
  static Result<std::unique_ptr<Worker>> connect(const EndpointSpec& spec,
                                                 std::uint64_t deadline_ns)
  {
    auto self = std::unique_ptr<TcpTarget>(new TcpTarget(spec));
    const std::uint32_t count = spec.traffic.tcp.streams;
    TRY_ASSIGN(const Fd listener, listen_on(spec.local_ip, spec.port, static_cast<int>(count) + 1));
    self->streams_.resize(count);
    const std::uint64_t bytes = self->payload_.bytes();
    // A lost handshake packet may let a later connection arrive first.
    for (std::uint32_t i = 0; i <= count; ++i) {
      TRY_ASSIGN(Fd fd, accept_one(listener.get(), deadline_ns));
      TRY_ASSIGN(const std::uint64_t greeting, receive_greeting(fd.get(), deadline_ns));
      if (greeting == 0) {
        self->oob_ = JsonSocket(std::move(fd), "the initiator");
        continue;
      }
      if (greeting > count || self->streams_[greeting - 1].fd.valid())
        return Error{Exit::traffic,
                     "accept the initiator's streams: one has an unexpected number",
                     0,
                     {},
                     {}};
      TRY(prepare_receiver(fd.get()));
      if (self->answering_) TRY(send_at_once(fd.get()));
      Stream& stream = self->streams_[greeting - 1];
      stream.fd = std::move(fd);
      const std::uint64_t ring =
          std::max(ring_messages(spec, bytes, count), (read_bytes + bytes - 1) / bytes);
      stream.buffer.resize(ring * bytes); // zeroed, so that no page is missing later
    }
    if (self->oob_.fd() < 0)
      return Error{Exit::traffic, "accept the initiator's out-of-band connection", 0, {}, {}};
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
    Meter meter(flow, schedule, payload_.bytes(), streams_.size());
    TRY_ASSIGN(Poller poller, Poller::create());
    for (std::size_t i = 0; i < streams_.size(); ++i)
      TRY(poller.add(streams_[i].fd.get(), EPOLLIN, static_cast<std::uint32_t>(i)));

    const std::uint64_t deadline = schedule.window_end_ns + transport_drain_ns(spec_.traffic);
    std::size_t open = streams_.size();
    if (open == 1) {
      TRY_ASSIGN(open, read_alone(deadline, meter, flow));
    }
    while (open > 0) {
      TRY_ASSIGN(const auto events, poller.wait(deadline));
      if (events.empty()) break;
      for (const epoll_event& event : events) {
        const int number = answering_ ? read_and_answer(event.data.u32, deadline, meter)
                                      : read_once(event.data.u32, meter);
        if (number == 0) continue;
        if (number > 0)
          end_with(flow, "stream", errno_name(number),
                   stream_words("receive on", event.data.u32, number));
        TRY(poller.remove(streams_[event.data.u32].fd.get()));
        --open;
      }
    }
    for (std::size_t i = 0; i < streams_.size(); ++i) check_until(i, streams_[i].received, meter);
    judge(open, schedule.window_end_ns + drain_budget_ns(spec_.traffic), flow);
    return flow;
  }

private:
  struct Stream {
    Fd fd;
    std::vector<std::byte> buffer; ///< a ring of whole messages
    std::uint64_t bytes = 0;       ///< received since the start
    std::uint64_t received = 0;    ///< whole messages since the start
    std::uint64_t checked = 0;     ///< of the received
  };

  explicit TcpTarget(const EndpointSpec& spec)
      : spec_(spec), payload_(spec.seed, spec.traffic.message_bytes),
        answering_(spec.traffic.tcp.depth != 0)
  {}

  /// Reads the only stream to its end: as a program with one connection would, without a poller.
  /// Gives how many streams are still open.
  Result<std::size_t> read_alone(std::uint64_t deadline, Meter& meter, record::Flow& flow)
  {
    TRY(let_reads_wait(streams_[0].fd.get(), deadline));
    int number = 0;
    while (number == 0 && monotonic_ns() < deadline)
      number = answering_ ? read_and_answer(0, deadline, meter) : read_once(0, meter);
    if (number > 0)
      end_with(flow, "stream", errno_name(number), stream_words("receive on", 0, number));
    return std::size_t{number == 0 ? 1U : 0U};
  }

  /// One read. 0: go on; -1: the stream ended; else the errno.
  int read_once(std::size_t index, Meter& meter)
  {
    Stream& s = streams_[index];
    const std::uint64_t bytes = payload_.bytes();
    const std::uint64_t at = s.bytes % s.buffer.size();
    const std::uint64_t most = std::min<std::uint64_t>(read_bytes, s.buffer.size() - at);
    // What this read may overwrite was received a whole ring ago.
    if (s.bytes + most > s.buffer.size())
      check_until(index, (s.bytes + most - s.buffer.size() + bytes - 1) / bytes, meter);
    const ssize_t n = ::recv(s.fd.get(), s.buffer.data() + at, most, 0);
    if (n == 0) return -1;
    if (n < 0) return errno == EAGAIN || errno == EINTR ? 0 : errno;
    s.bytes += static_cast<std::uint64_t>(n);
    if (s.bytes / bytes == s.received) return 0;
    const std::uint64_t now = monotonic_ns();
    for (; s.received < s.bytes / bytes; ++s.received) {
      const std::uint64_t sent =
          Payload::sent_ns(s.buffer.data() + s.received * bytes % s.buffer.size());
      meter.deliver(index, now, sent < now ? now - sent : 0);
    }
    return 0;
  }

  /// read_once(), and an answer for each message that it completed.
  int read_and_answer(std::size_t index, std::uint64_t deadline, Meter& meter)
  {
    std::uint64_t next = streams_[index].received;
    if (const int number = read_once(index, meter); number != 0) return number;
    const Stream& s = streams_[index];
    std::array<std::uint64_t, 64> answers{};
    while (next < s.received) {
      std::size_t count = 0;
      while (count < answers.size() && next < s.received) answers[count++] = next++;
      const int number = send_all(s.fd.get(), reinterpret_cast<const char*>(answers.data()),
                                  count * sizeof answers[0], deadline);
      if (number != 0) return number;
    }
    return 0;
  }

  /// 0, or the errno. What the kernel has no room for waits: the initiator takes answers in
  /// whatever else it does.
  static int send_all(int fd, const char* data, std::size_t bytes, std::uint64_t deadline)
  {
    while (bytes > 0) {
      const ssize_t n = ::send(fd, data, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno != EAGAIN) return errno;
      if (n < 0) {
        const auto room = wait_for(fd, POLLOUT, deadline);
        if (!room) return room.error().number;
        if (!*room) return ETIMEDOUT;
        continue;
      }
      data += n;
      bytes -= static_cast<std::size_t>(n);
    }
    return 0;
  }

  /// Checks what was received on a stream up to message `end`.
  void check_until(std::size_t index, std::uint64_t end, Meter& meter)
  {
    Stream& s = streams_[index];
    for (; s.checked < std::min(end, s.received); ++s.checked) {
      const std::byte* message = s.buffer.data() + s.checked * payload_.bytes() % s.buffer.size();
      meter.checked(payload_.check(message, index, s.checked));
    }
  }

  /// Compares what came with what the initiator says it sent.
  void judge(std::size_t open, std::uint64_t deadline, record::Flow& flow)
  {
    if (open > 0)
      end_with(flow, "drain", {},
               "drain: " + std::to_string(open) +
                   " streams had not ended by the time that this traffic has after the window");
    const auto message = oob_.receive(deadline);
    const auto totals =
        message ? from_json_value<Totals>(*message, "totals") : Result<Totals>(message.error());
    if (flow.outcome != "ok") return;
    if (!totals) {
      end_with(flow, "peer", totals.error());
      return;
    }
    for (std::size_t i = 0; i < streams_.size() && i < totals->completed.size(); ++i) {
      if (streams_[i].received == totals->completed[i] &&
          streams_[i].bytes == streams_[i].received * payload_.bytes())
        continue;
      if (totals->outcome != "ok") continue; // the initiator tells its own story
      end_with(flow, "peer", {},
               "stream " + std::to_string(i) + ": " + std::to_string(streams_[i].received) +
                   " of " + std::to_string(totals->completed[i]) + " messages came");
      return;
    }
  }

  EndpointSpec spec_;
  Payload payload_;
  bool answering_;
  JsonSocket oob_;
  std::vector<Stream> streams_;
};

} // namespace

Result<std::unique_ptr<Worker>> make_tcp_target(const EndpointSpec& spec, std::uint64_t deadline_ns)
{
  return TcpTarget::connect(spec, deadline_ns);
}

} // namespace rdmalab::traffic
