#include "base/clock.h"
#include "base/json.h"
#include "traffic/drain.h"
#include "traffic/ending.h"
#include "traffic/meter.h"
#include "traffic/oob.h"
#include "traffic/payload.h"
#include "traffic/poller.h"
#include "traffic/ring.h"
#include "traffic/tcp_stream.h"
#include "traffic/worker.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/epoll.h>
#include <sys/socket.h>

namespace rdmalab::traffic {

namespace {

/// A stream may write this much in a row before the others get their turn.
constexpr std::uint64_t turn_bytes = 1U << 20;
/// A read takes what is there, up to this. No SO_RCVLOWAT: with it Linux
/// acknowledges every second segment until the mark is reached (tcp_input.c,
/// __tcp_ack_snd_check()), which cost a fifth of a guest's goodput.
constexpr std::uint64_t read_bytes = 256U << 10;
constexpr std::uint32_t oob_tag = ~0U;

std::string broke(const char* verb, std::size_t stream, int number)
{
  return std::string(verb) + " stream " + std::to_string(stream) + ": " + std::strerror(number);
}

/// The connecting and sending end.
class TcpInitiator : public Worker {
public:
  static Result<std::unique_ptr<Worker>> connect(const EndpointSpec& spec,
                                                 std::uint64_t deadline_ns)
  {
    auto self = std::unique_ptr<TcpInitiator>(new TcpInitiator(spec));
    const auto dial = [&](std::uint64_t greeting, const std::string& congestion) -> Result<Fd> {
      TRY_ASSIGN(Fd fd,
                 connect_to(spec.local_ip, spec.peer_ip, spec.port, congestion, deadline_ns));
      TRY(send_greeting(fd.get(), greeting));
      return fd;
    };
    TRY_ASSIGN(Fd oob, dial(0, {}));
    self->oob_ = JsonSocket(std::move(oob), "the target");
    const std::uint64_t unsent =
        std::max<std::uint64_t>(256U << 10, 4 * spec.traffic.message_bytes);
    for (std::uint32_t i = 0; i < spec.traffic.tcp.streams; ++i) {
      TRY_ASSIGN(Fd fd, dial(i + 1, spec.traffic.tcp.congestion));
      TRY(prepare_sender(fd.get(), spec.traffic.tcp.nodelay, unsent));
      Stream stream;
      stream.fd = std::move(fd);
      stream.message.resize(self->payload_.bytes());
      self->payload_.fill(stream.message.data());
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
    TRY_ASSIGN(Poller poller, Poller::create());
    for (std::size_t i = 0; i < streams_.size(); ++i)
      TRY(poller.add(streams_[i].fd.get(), EPOLLOUT, static_cast<std::uint32_t>(i)));
    TRY(poller.add(oob_.fd(), EPOLLIN, oob_tag));
    sleep_until_ns(schedule.start_ns);
    TRY(serve(schedule.window_end_ns, schedule.window_end_ns, poller, flow));
    for (const Stream& stream : streams_) {
      const auto mss = add_tcp_info(stream.fd.get(), flow.tcp_info);
      if (mss && *mss > flow.path_mtu) flow.path_mtu = *mss;
    }
    const std::uint64_t deadline = schedule.window_end_ns + transport_drain_ns(spec_.traffic);
    if (flow.outcome == "ok") TRY(finish_messages(deadline, poller, flow));
    TRY(say_goodbye(schedule.window_end_ns + drain_budget_ns(spec_.traffic), flow));
    return flow;
  }

private:
  struct Stream {
    Fd fd;
    std::vector<std::byte> message;
    std::uint64_t started = 0;  ///< messages begun
    std::uint64_t finished = 0; ///< messages wholly handed to the kernel
    std::size_t sent = 0; ///< bytes of the message at hand; equal to its size when there is none
  };

  explicit TcpInitiator(const EndpointSpec& spec)
      : spec_(spec), payload_(spec.seed, spec.traffic.message_bytes)
  {}

  /// Writes on stream `index` until its send queue is full, its turn is over, or there is nothing
  /// to send. 0, or the errno that broke it.
  int write_turn(std::size_t index, std::uint64_t last_start_ns)
  {
    Stream& s = streams_[index];
    for (std::uint64_t written = 0; written < turn_bytes;) {
      if (s.started == s.finished) {
        const std::uint64_t now = monotonic_ns();
        if (now >= last_start_ns) return 0;
        payload_.stamp(s.message.data(), index, s.started++, now);
        s.sent = 0;
      }
      const ssize_t n =
          ::send(s.fd.get(), s.message.data() + s.sent, s.message.size() - s.sent, MSG_NOSIGNAL);
      if (n < 0) {
        if (errno == EAGAIN) return 0;
        if (errno == EINTR) continue;
        return errno;
      }
      s.sent += static_cast<std::size_t>(n);
      written += static_cast<std::uint64_t>(n);
      if (s.sent < s.message.size()) return 0; // the queue is full; the next EPOLLOUT goes on
      ++s.finished;
    }
    return 0;
  }

  /// Serves what the poller says until `deadline` or until nothing is left to do: no message may
  /// begin any more (last_start_ns) and no stream has one at hand.
  Status serve(std::uint64_t deadline, std::uint64_t last_start_ns, Poller& poller,
               record::Flow& flow)
  {
    std::size_t busy = streams_.size();
    while (flow.outcome == "ok" && busy > 0 && monotonic_ns() < deadline) {
      TRY_ASSIGN(const auto events, poller.wait(deadline));
      for (const epoll_event& event : events) {
        if (event.data.u32 == oob_tag) {
          end_with(flow, "peer", {}, "the target ended before the traffic did");
          break;
        }
        Stream& stream = streams_[event.data.u32];
        if (const int number = write_turn(event.data.u32, last_start_ns); number != 0) {
          end_with(flow, "stream", errno_name(number), broke("send on", event.data.u32, number));
          break;
        }
        if (last_start_ns == 0 && stream.started == stream.finished) {
          TRY(poller.remove(stream.fd.get())); // it stays writable, and has nothing to write
          --busy;
        }
      }
    }
    return {};
  }

  /// Nothing new is begun; what is begun goes out whole.
  Status finish_messages(std::uint64_t deadline, Poller& poller, record::Flow& flow)
  {
    TRY(serve(deadline, 0, poller, flow));
    const bool all = std::all_of(streams_.begin(), streams_.end(),
                                 [](const Stream& s) { return s.started == s.finished; });
    if (!all)
      end_with(flow, "drain", {},
               "drain: a message was not sent within the time that this traffic has after the "
               "window");
    return {};
  }

  Status say_goodbye(std::uint64_t deadline, record::Flow& flow)
  {
    Totals totals;
    for (Stream& s : streams_) {
      totals.posted.push_back(s.started);
      totals.completed.push_back(s.finished);
      ::shutdown(s.fd.get(), SHUT_WR);
    }
    totals.outcome = flow.outcome;
    if (const Status sent = oob_.send(totals, deadline); !sent)
      end_with(flow, "peer", sent.error());
    return {};
  }

  EndpointSpec spec_;
  Payload payload_;
  JsonSocket oob_;
  std::vector<Stream> streams_;
};

/// The accepting and receiving end.
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
        const int number = read_once(event.data.u32, meter);
        if (number == 0) continue;
        if (number > 0)
          end_with(flow, "stream", errno_name(number), broke("receive on", event.data.u32, number));
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
      : spec_(spec), payload_(spec.seed, spec.traffic.message_bytes)
  {}

  /// Reads the only stream to its end: as a program with one connection would, without a poller.
  /// Gives how many streams are still open.
  Result<std::size_t> read_alone(std::uint64_t deadline, Meter& meter, record::Flow& flow)
  {
    TRY(let_reads_wait(streams_[0].fd.get(), deadline));
    int number = 0;
    while (number == 0 && monotonic_ns() < deadline) number = read_once(0, meter);
    if (number > 0) end_with(flow, "stream", errno_name(number), broke("receive on", 0, number));
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
  JsonSocket oob_;
  std::vector<Stream> streams_;
};

} // namespace

Result<std::unique_ptr<Worker>> make_tcp_worker(const EndpointSpec& spec, std::uint64_t deadline_ns)
{
  TRY(check_message_size(spec.traffic));
  return spec.role == Role::initiator ? TcpInitiator::connect(spec, deadline_ns)
                                      : TcpTarget::connect(spec, deadline_ns);
}

} // namespace rdmalab::traffic
