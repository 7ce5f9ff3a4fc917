#include "ebpf/load.h"
#include "unsafe.skel.h"

#include <cerrno>
#include <memory>

#include <gmock/gmock.h>
#include <unistd.h>

namespace rdmalab::ebpf {
namespace {

/// The way that the fault programs are loaded, with a program that the verifier must refuse.
TEST(LoadPrograms, TellsWhatTheVerifierRefuses)
{
  if (::geteuid() != 0) GTEST_SKIP() << "loading eBPF programs needs root";
  const std::unique_ptr<unsafe_bpf, decltype(&unsafe_bpf__destroy)> unsafe(unsafe_bpf__open(),
                                                                           unsafe_bpf__destroy);
  ASSERT_TRUE(unsafe);
  const Status loaded =
      load_programs("an unsafe program", [&unsafe] { return unsafe_bpf__load(unsafe.get()); });
  ASSERT_FALSE(loaded);
  const Error& error = loaded.error();
  EXPECT_EQ(error.exit, Exit::setup);
  EXPECT_EQ(static_cast<int>(error.exit), 4);
  EXPECT_EQ(error.number, EACCES);
  EXPECT_THAT(error.message(), testing::HasSubstr("load an unsafe program"));
  EXPECT_THAT(error.hint, testing::HasSubstr("invalid access to packet, off=1000 size=1"));
  EXPECT_THAT(error.hint, testing::HasSubstr("reads_too_far"));
}

TEST(LoadPrograms, IsSilentAboutSuccess)
{
  EXPECT_TRUE(load_programs("nothing", [] { return 0; }));
}

} // namespace
} // namespace rdmalab::ebpf
