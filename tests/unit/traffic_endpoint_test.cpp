#include "base/clock.h"
#include "base/fd.h"
#include "traffic/endpoint.h"
#include "traffic/zero_copy.h"

#include <csignal>
#include <numeric>
#include <tuple>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>

namespace rdmalab::traffic {
namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t patience = 60'000 * ms;
constexpr std::uint64_t window = 400 * ms; // a loaded machine may not run a process for a while

/// A port that nobody listens on at the moment.
std::uint16_t free_port()
{
  const Fd fd(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
  EXPECT_EQ(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
  return ntohs(address.sin_port);
}

EndpointSpec spec(Role role, std::uint64_t message_bytes, std::uint32_t streams, std::uint16_t port)
{
  EndpointSpec s;
  s.role = role;
  s.traffic.name = "tcp";
  s.traffic.kind = lab::TrafficKind::tcp;
  s.traffic.message_bytes = message_bytes;
  s.traffic.tcp.streams = streams;
  s.local_ip = s.peer_ip = "127.0.0.1";
  s.port = port;
  s.seed = 42;
  return s;
}

struct Pair {
  Endpoint target;
  Endpoint initiator;
};

Result<Pair> connected(EndpointSpec from, EndpointSpec to)
{
  TRY_ASSIGN(Endpoint target, Endpoint::spawn(to));
  TRY_ASSIGN(Endpoint initiator, Endpoint::spawn(from));
  TRY(target.wait_ready(patience));
  TRY(initiator.wait_ready(patience));
  return Pair{std::move(target), std::move(initiator)};
}

Schedule soon(std::uint64_t window_ns)
{
  const std::uint64_t start = monotonic_ns() + 5 * ms;
  return {start, start + 10 * ms, start + 10 * ms + window_ns};
}

Result<record::Flow> run(Pair& pair, const Schedule& schedule)
{
  TRY(pair.target.start(schedule));
  TRY(pair.initiator.start(schedule));
  TRY_ASSIGN(const record::Flow from, pair.initiator.report(patience));
  TRY_ASSIGN(const record::Flow to, pair.target.report(patience));
  return merge(from, to);
}

struct Shape {
  std::uint64_t message_bytes;
  std::uint32_t streams;
  std::uint64_t expected = 0;
};

class Tcp : public testing::TestWithParam<Shape> {};

TEST_P(Tcp, EveryMessageArrivesAndIsChecked)
{
  const auto [bytes, streams, expected] = GetParam();
  const std::uint16_t port = free_port();
  auto to = spec(Role::target, bytes, streams, port);
  to.ring_bytes = expected; // 0: the smallest ring, which wraps and checks all the time
  auto pair = connected(spec(Role::initiator, bytes, streams, port), to);
  ASSERT_TRUE(pair) << pair.error().message();
  const auto flow = run(*pair, soon(window));
  ASSERT_TRUE(flow) << flow.error().message();

  EXPECT_EQ(flow->outcome, "ok");
  EXPECT_EQ(flow->traffic, "tcp");
  EXPECT_EQ(flow->window_ns, window);
  EXPECT_GT(flow->messages, 0U);
  EXPECT_GE(flow->total_messages, flow->messages);
  EXPECT_EQ(flow->bytes, flow->messages * bytes);
  EXPECT_EQ(flow->total_bytes, flow->total_messages * bytes);
  EXPECT_EQ(flow->checked_messages, flow->total_messages);
  EXPECT_EQ(flow->corrupt_messages, 0U);
  EXPECT_EQ(flow->latency.count(), flow->messages);
  ASSERT_EQ(flow->bytes_per_stream.size(), streams);
  EXPECT_EQ(std::accumulate(flow->bytes_per_stream.begin(), flow->bytes_per_stream.end(),
                            std::uint64_t{0}),
            flow->bytes);
  for (const std::uint64_t each : flow->bytes_per_stream) EXPECT_GT(each, 0U);
  EXPECT_GT(flow->path_mtu, 500U);
  EXPECT_GE(flow->tcp_info.at("bytes_sent"), flow->bytes);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Tcp,
                         testing::Values(Shape{64, 1}, Shape{1000, 2}, Shape{40'001, 1},
                                         Shape{65536, 1}, Shape{65536, 4},
                                         Shape{65536, 2, 1U << 30}, Shape{1000, 1, 1U << 20},
                                         Shape{3'000'000, 2}));

struct Windowed {
  std::uint64_t message_bytes;
  std::uint32_t streams;
  std::uint32_t depth;
  bool zerocopy;
};

class TcpWindow : public testing::TestWithParam<Windowed> {};

TEST_P(TcpWindow, EveryMessageArrivesAndIsAnswered)
{
  const auto [bytes, streams, depth, zerocopy] = GetParam();
  const std::uint16_t port = free_port();
  auto from = spec(Role::initiator, bytes, streams, port);
  from.traffic.tcp.depth = depth;
  from.traffic.tcp.zerocopy = zerocopy;
  auto to = from;
  to.role = Role::target;
  auto pair = connected(from, to);
  ASSERT_TRUE(pair) << pair.error().message();
  const auto flow = run(*pair, soon(window));
  ASSERT_TRUE(flow) << flow.error().message();

  EXPECT_EQ(flow->outcome, "ok");
  EXPECT_GT(flow->messages, 0U);
  EXPECT_EQ(flow->bytes, flow->messages * bytes);
  EXPECT_EQ(flow->checked_messages, flow->total_messages);
  EXPECT_EQ(flow->corrupt_messages, 0U);
  EXPECT_EQ(flow->latency.count(), flow->messages);
  for (const std::uint64_t each : flow->bytes_per_stream) EXPECT_GT(each, 0U);
  EXPECT_GT(flow->path_mtu, 500U);
  ASSERT_EQ(flow->tcp_info.contains("zerocopy_sends"), zerocopy);
  if (zerocopy) {
    EXPECT_GE(flow->tcp_info.at("zerocopy_sends"), flow->total_messages);
    // A packet that loops back is read by a socket, so the kernel has copied it before.
    EXPECT_EQ(flow->tcp_info.at("zerocopy_copied"), flow->tcp_info.at("zerocopy_sends"));
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, TcpWindow,
                         testing::Values(Windowed{64, 1, 1, false}, Windowed{65536, 1, 1, false},
                                         Windowed{1000, 1, 1000, false},
                                         Windowed{3'000'000, 1, 4, false},
                                         Windowed{40'001, 4, 3, false}, Windowed{64, 3, 700, false},
                                         Windowed{65536, 1, 0, true}, Windowed{100, 2, 0, true},
                                         Windowed{3'000'000, 1, 0, true},
                                         Windowed{65536, 1, 1, true}, Windowed{5000, 2, 16, true}));

TEST(Endpoint, AtDepthOneAMessageWaitsForNoOther)
{
  const std::uint16_t port = free_port();
  auto from = spec(Role::initiator, 65536, 1, port);
  from.traffic.tcp.depth = 1;
  auto to = from;
  to.role = Role::target;
  auto pair = connected(from, to);
  ASSERT_TRUE(pair) << pair.error().message();
  const Schedule schedule = soon(window);
  const auto flow = run(*pair, schedule);
  ASSERT_TRUE(flow) << flow.error().message();
  // One after the other: together their latencies fit into the time that there was. The first may
  // have begun before the window.
  EXPECT_LE(flow->latency.quantile(1) * (flow->messages - 1), window);
}

TEST(ZeroCopy, ASlotIsFreeWhenAllItsSendsAre)
{
  ZeroCopy books(2);
  books.sent(0); // 0, 1: one message in two parts
  books.sent(0);
  books.sent(1); // 2
  EXPECT_EQ(books.pending(), 3U);
  books.complete(1, 2, true); // out of order
  EXPECT_FALSE(books.free(0));
  EXPECT_TRUE(books.free(1));
  books.complete(0, 0, false);
  EXPECT_TRUE(books.free(0));
  EXPECT_EQ(books.pending(), 0U);
  EXPECT_EQ(books.sends(), 3U);
  EXPECT_EQ(books.copied(), 2U);
}

TEST(ZeroCopy, TheBooksAreFullUntilTheOldestIsThrough)
{
  ZeroCopy books(1);
  std::uint32_t sends = 0;
  for (; books.room(); ++sends) books.sent(0);
  books.complete(1, sends - 1, false);
  EXPECT_FALSE(books.room());
  books.complete(0, 0, false);
  EXPECT_TRUE(books.room());
  EXPECT_TRUE(books.free(0));
}

TEST(Endpoint, DifferentSeedsAreCorruptPayload)
{
  const std::uint16_t port = free_port();
  auto to = spec(Role::target, 4096, 1, port);
  to.seed = 43;
  auto pair = connected(spec(Role::initiator, 4096, 1, port), to);
  ASSERT_TRUE(pair) << pair.error().message();
  const auto flow = run(*pair, soon(window));
  ASSERT_TRUE(flow) << flow.error().message();
  EXPECT_GT(flow->corrupt_messages, 0U);
  EXPECT_EQ(flow->corrupt_messages, flow->checked_messages);
}

TEST(Endpoint, UnknownCongestionControlIsAnErrorWithAHint)
{
  const std::uint16_t port = free_port();
  auto from = spec(Role::initiator, 4096, 1, port);
  from.traffic.tcp.congestion = "nosuch";
  auto target = Endpoint::spawn(spec(Role::target, 4096, 1, port));
  auto initiator = Endpoint::spawn(from);
  ASSERT_TRUE(target && initiator);
  const Status status = initiator->wait_ready(patience);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().exit, Exit::environment);
  EXPECT_EQ(status.error().number, ENOENT);
  EXPECT_NE(status.error().hint.find("modprobe tcp_nosuch"), std::string::npos);
}

TEST(Endpoint, APeerThatNeverComesIsAnErrorInTime)
{
  for (const Role role : {Role::initiator, Role::target}) {
    auto lonely = spec(role, 4096, 1, free_port());
    lonely.ready_timeout_ns = 50 * ms;
    auto endpoint = Endpoint::spawn(lonely);
    ASSERT_TRUE(endpoint);
    const Status status = endpoint->wait_ready(patience);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().exit, Exit::timeout);
  }
}

TEST(Endpoint, TheControllerWaitsNoLongerThanItSays)
{
  auto endpoint = Endpoint::spawn(spec(Role::target, 4096, 1, free_port()));
  ASSERT_TRUE(endpoint);
  const Status status = endpoint->wait_ready(20 * ms);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().exit, Exit::timeout);
}

TEST(Endpoint, AKilledEndpointIsAnErrorAndItsPeerReports)
{
  for (const auto& [kill_target, depth, streams] :
       {std::tuple(false, 0U, 2U), std::tuple(true, 0U, 2U), std::tuple(false, 4U, 2U),
        std::tuple(true, 4U, 2U), std::tuple(false, 1U, 1U), std::tuple(true, 1U, 1U)}) {
    const std::uint16_t port = free_port();
    auto from = spec(Role::initiator, 65536, streams, port);
    from.traffic.tcp.depth = depth;
    auto to = from;
    to.role = Role::target;
    auto pair = connected(from, to);
    ASSERT_TRUE(pair) << pair.error().message();
    const Schedule schedule = soon(10'000 * ms); // far longer than this test waits
    ASSERT_TRUE(pair->target.start(schedule));
    ASSERT_TRUE(pair->initiator.start(schedule));
    sleep_until_ns(schedule.window_begin_ns + 20 * ms);
    Endpoint& victim = kill_target ? pair->target : pair->initiator;
    Endpoint& survivor = kill_target ? pair->initiator : pair->target;
    ASSERT_EQ(::kill(victim.pid(), SIGKILL), 0);
    const auto lost = victim.report(patience);
    ASSERT_FALSE(lost);
    EXPECT_NE(lost.error().attempted.find("killed by signal 9"), std::string::npos)
        << lost.error().attempted;
    const auto flow = survivor.report(patience);
    ASSERT_TRUE(flow) << flow.error().message();
    EXPECT_NE(flow->outcome, "ok");
    EXPECT_LT(monotonic_ns(), schedule.window_end_ns) << "the survivor should notice at once";
  }
}

TEST(Endpoint, DyingReapsTheProcess)
{
  pid_t pid = -1;
  {
    auto endpoint = Endpoint::spawn(spec(Role::target, 4096, 1, free_port()));
    ASSERT_TRUE(endpoint);
    pid = endpoint->pid();
    EXPECT_EQ(::kill(pid, 0), 0);
    Endpoint moved = std::move(*endpoint);
    EXPECT_EQ(moved.pid(), pid);
  }
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(Merge, TakesEachFigureFromTheEndThatHasIt)
{
  record::Flow initiator;
  initiator.traffic = "x";
  initiator.window_ns = 10;
  initiator.completions = {{"IBV_WC_SUCCESS", 5}};
  initiator.tcp_info = {{"retransmits", 3}};
  record::Flow target;
  target.window_ns = 10;
  target.bytes = 64;
  target.messages = 1;
  target.total_bytes = 128;
  target.total_messages = 2;
  target.checked_messages = 2;
  target.corrupt_messages = 1;
  target.bytes_per_stream = {64};
  target.path_mtu = 1024;
  target.latency.add(7);
  const record::Flow flow = merge(initiator, target);
  EXPECT_EQ(flow.traffic, "x");
  EXPECT_EQ(flow.outcome, "ok");
  EXPECT_EQ(flow.window_ns, 10U);
  EXPECT_EQ(flow.bytes, 64U);
  EXPECT_EQ(flow.total_messages, 2U);
  EXPECT_EQ(flow.corrupt_messages, 1U);
  EXPECT_EQ(flow.completions.at("IBV_WC_SUCCESS"), 5U);
  EXPECT_EQ(flow.tcp_info.at("retransmits"), 3U);
  EXPECT_EQ(flow.bytes_per_stream, std::vector<std::uint64_t>{64});
  EXPECT_EQ(flow.path_mtu, 1024U);
  EXPECT_EQ(flow.latency.count(), 1U);
}

TEST(Merge, NamesWhoSaysWhatBroke)
{
  record::Flow initiator;
  record::Flow target;
  target.outcome = "no more";
  EXPECT_EQ(merge(initiator, target).outcome, "target: no more");
  initiator.outcome = "send completion 3: IBV_WC_RETRY_EXC_ERR";
  EXPECT_EQ(merge(initiator, target).outcome,
            "send completion 3: IBV_WC_RETRY_EXC_ERR; target: no more");
  target.outcome = "ok";
  EXPECT_EQ(merge(initiator, target).outcome, "send completion 3: IBV_WC_RETRY_EXC_ERR");
}

TEST(DrainBudget, FollowsTheTimersAndHasBounds)
{
  constexpr std::uint64_t words = 5'000 * ms; // for the out-of-band connection
  lab::Traffic traffic;
  traffic.verbs.timeout = 16; // 268 ms
  traffic.verbs.retry_count = 6;
  // The 16 messages of 64 KiB in flight may crawl home at 1 Mb/s.
  const std::uint64_t crawl = 16ULL * 65536 * 8'000;
  EXPECT_EQ(drain_budget_ns(traffic), 2ULL * 7 * (4096ULL << 16) + crawl + words);
  traffic.message_bytes = 64;
  traffic.verbs.timeout = 1;
  EXPECT_EQ(drain_budget_ns(traffic), 1'000 * ms + words);
  traffic.verbs.timeout = 31;
  EXPECT_EQ(drain_budget_ns(traffic), 30'000 * ms + words);
}

} // namespace
} // namespace rdmalab::traffic
