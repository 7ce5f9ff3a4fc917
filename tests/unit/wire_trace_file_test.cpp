#include "base/file.h"
#include "wire/pcapng.h"
#include "wire/trace_file.h"

#include <gmock/gmock.h>
#include <spdlog/fmt/fmt.h>
#include <sys/mman.h>
#include <unistd.h>

namespace rdmalab::wire {
namespace {

using testing::ElementsAre;

std::string written(const Trace& trace)
{
  const Fd file(::memfd_create("trace", MFD_CLOEXEC));
  const Status status = write_trace(Fd(::dup(file.get())), "x", trace, "about");
  EXPECT_TRUE(status);
  return read_file(fmt::format("/proc/self/fd/{}", file.get())).value();
}

TEST(TraceFile, ComesBackAsItWas)
{
  const std::vector<std::byte> frame(100, std::byte{7});
  Trace trace;
  trace.hosts = {"client", "server"};
  trace.rules = {"gap", "late"};
  trace.packets = {
      {10, 0, TracePoint::entered, FaultAction::drop, 1, 1500, frame},
      {20, 0, TracePoint::entered, FaultAction::delay, 2, 1500, frame},
      {30, 1, TracePoint::arrived, FaultAction::none, 0, 100, frame},
  };
  trace.lost = 5;
  const std::string text = written(trace);
  const auto read = read_trace(text, "x");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_THAT(read->hosts, ElementsAre("client", "server"));
  EXPECT_THAT(read->rules, ElementsAre("gap", "late"));
  EXPECT_EQ(read->lost, 5U);
  ASSERT_EQ(read->packets.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const TracedPacket& want = trace.packets[i];
    const TracedPacket& got = read->packets[i];
    EXPECT_EQ(got.time_ns, want.time_ns);
    EXPECT_EQ(got.host, want.host);
    EXPECT_EQ(got.point, want.point);
    EXPECT_EQ(got.action, want.action);
    EXPECT_EQ(got.rule, want.rule);
    EXPECT_EQ(got.wire_length, want.wire_length);
    EXPECT_TRUE(std::equal(got.bytes.begin(), got.bytes.end(), frame.begin(), frame.end()));
  }
}

TEST(TraceFile, OfAnotherProgramIsRefused)
{
  const Fd file(::memfd_create("trace", MFD_CLOEXEC));
  const std::vector<CaptureInterface> interfaces{{"eth0"}};
  PcapngWriter writer = PcapngWriter::create(Fd(::dup(file.get())), "x", interfaces, "other");
  ASSERT_TRUE(writer.finish());
  const std::string text = read_file(fmt::format("/proc/self/fd/{}", file.get())).value();
  const auto read = read_trace(text, "x.pcapng");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message(), testing::HasSubstr("interface eth0"));
}

} // namespace
} // namespace rdmalab::wire
