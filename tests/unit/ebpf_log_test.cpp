#include "ebpf/log.h"

#include <bpf/libbpf.h>
#include <gmock/gmock.h>

namespace rdmalab::ebpf {
namespace {

TEST(BpfLog, KeepsWhatLibbpfSays)
{
  BpfLog log;
  EXPECT_EQ(log.tail(), "");
  EXPECT_EQ(bpf_object__open_file("no-such-object.bpf.o", nullptr), nullptr);
  EXPECT_THAT(log.tail(), testing::HasSubstr("no-such-object.bpf.o"));
}

TEST(BpfLog, KeepsTheLastLinesOnly)
{
  BpfLog log;
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(bpf_object__open_file(("missing" + std::to_string(i)).c_str(), nullptr), nullptr);
  EXPECT_THAT(log.tail(2), testing::AllOf(testing::HasSubstr("missing4"),
                                          testing::Not(testing::HasSubstr("missing0"))));
}

int heard = 0;
int listen(libbpf_print_level, const char*, va_list)
{
  return ++heard;
}

TEST(BpfLog, PutsThePrinterBack)
{
  const auto original = libbpf_set_print(listen);
  {
    BpfLog log;
    EXPECT_EQ(bpf_object__open_file("missing", nullptr), nullptr);
  }
  EXPECT_EQ(heard, 0);
  EXPECT_EQ(libbpf_set_print(original), listen);
}

} // namespace
} // namespace rdmalab::ebpf
