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

#include <algorithm>
#include <cerrno>

#include <sys/epoll.h>
#include <sys/socket.h>

namespace rdmalab::traffic {

namespace {

/// A stream may write this much in a row before the others get their turn.
constexpr std::uint64_t turn_bytes = 1U << 20;

/// The connecting end, which sends as fast as the socket takes it.
class TcpInitiator : public Worker {
public:
  static Result<std::unique_ptr<Worker>> connect(const EndpointSpec& spec,
                                                 std::uint64_t deadline_ns)
  {
    auto self = std::unique_ptr<TcpInitiator>(new TcpInitiator(spec));
    TRY_ASSIGN(TcpDial dialed, dial_streams(spec, deadline_ns));
    self->oob_ = JsonSocket(std::move(dialed.oob), "the target");
    for (Fd& fd : dialed.streams) {
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
    for (const Stream& stream : streams_) note_tcp_info(stream.fd.get(), flow);
    const std::uint64_t deadline = schedule.window_end_ns + transport_drain_ns(spec_.traffic);
    if (flow.outcome == "ok") TRY(finish_messages(deadline, poller, flow));
    say_goodbye(streams_, oob_, schedule.window_end_ns + drain_budget_ns(spec_.traffic), flow);
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
          end_with(flow, "stream", errno_name(number),
                   stream_words("send on", event.data.u32, number));
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

  EndpointSpec spec_;
  Payload payload_;
  JsonSocket oob_;
  std::vector<Stream> streams_;
};

} // namespace

Result<std::unique_ptr<Worker>> make_tcp_initiator(const EndpointSpec& spec,
                                                   std::uint64_t deadline_ns)
{
  return TcpInitiator::connect(spec, deadline_ns);
}

} // namespace rdmalab::traffic
