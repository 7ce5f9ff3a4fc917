#include "lab/command_line.h"

#include <gmock/gmock.h>

namespace rdmalab::lab {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const CommandHost host{"rxe0", "10.0.0.1", "10.0.0.2"};

TEST(CommandWords, FillInTheHostWhereItIsAWord)
{
  EXPECT_THAT(command_words("ib_read_bw -d {rdma} --bind {ip} {peer}", host),
              ElementsAre("ib_read_bw", "-d", "rxe0", "--bind", "10.0.0.1", "10.0.0.2"));
}

TEST(CommandWords, LeaveWhatIsPartOfAWord)
{
  EXPECT_THAT(command_words("x --to={peer} {PEER} {other} '{ip}'", host),
              ElementsAre("x", "--to={peer}", "{PEER}", "{other}", "'{ip}'"));
}

TEST(CommandWords, SplitAtAnyWhiteSpace)
{
  EXPECT_THAT(command_words(" a\tb\n  c \r\n", host), ElementsAre("a", "b", "c"));
  EXPECT_THAT(command_words(" \n", host), IsEmpty());
}

} // namespace
} // namespace rdmalab::lab
