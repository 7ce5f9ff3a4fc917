#include "plan/commands.h"
#include "plan/planner.h"
#include "plan_labs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmalab::plan {
namespace {

using lab::FaultKind;
using test::fault;
using testing::HasSubstr;
using testing::Not;

std::string script(const lab::Lab& lab)
{
  auto plan = make_plan(lab);
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().message());
  return plan ? shell_script(*plan) : "";
}

TEST(NetemArguments, NothingButALimitByDefault)
{
  EXPECT_EQ(netem_arguments({}), "limit 1000");
}

TEST(NetemArguments, FollowTcNetem)
{
  Netem netem;
  netem.limit_packets = 42;
  netem.delay_ns = 1'500'000;
  netem.jitter_ns = 20'000;
  netem.rate_bps = 250'000'000;
  netem.loss_ppm = 1;
  netem.loss_correlation_ppm = 250'000;
  netem.duplicate_ppm = 20'000;
  netem.corrupt_ppm = 100;
  netem.reorder_ppm = 250'000;
  netem.reorder_correlation_ppm = 500'000;
  netem.reorder_gap = 5;
  netem.seed = 18'446'744'073'709'551'615U;
  EXPECT_EQ(netem_arguments(netem),
            "limit 42 delay 1.5ms 20us loss random 0.0001% 25% corrupt 0.01% duplicate 2% "
            "reorder 25% 50% gap 5 rate 250mbit seed 18446744073709551615");
}

TEST(NetemArguments, JitterNeedsARateToKeepOrder)
{
  Netem netem;
  netem.delay_ns = 5'000'000;
  netem.jitter_ns = 4'000'000;
  EXPECT_EQ(netem_arguments(netem), "limit 1000 delay 5ms 4ms rate 1000tbit");
  netem.keep_order = false;
  EXPECT_EQ(netem_arguments(netem), "limit 1000 delay 5ms 4ms");
}

TEST(NetemArguments, GilbertElliottInTcsOrder)
{
  Netem netem;
  netem.gilbert_elliott = true;
  netem.loss_ppm = 5; // not used
  netem.ge_p_ppm = 1'000;
  netem.ge_r_ppm = 200'000;
  netem.ge_bad_loss_ppm = 900'000; // tc's 1-h
  netem.ge_good_loss_ppm = 100;    // tc's 1-k
  EXPECT_EQ(netem_arguments(netem), "limit 1000 loss gemodel 0.1% 20% 90% 0.01%");
}

TEST(ShellScript, WithoutFaultsHasNoFaultPhase)
{
  EXPECT_THAT(script(test::two_hosts()), Not(HasSubstr("The faults")));
  EXPECT_THAT(script(test::two_hosts()), Not(HasSubstr("qdisc change")));
}

TEST(ShellScript, PutsAnIfbBehindASender)
{
  lab::Lab lab = test::two_hosts();
  lab.faults = {fault(FaultKind::loss)};
  lab.faults[0].to.reset();
  const std::string text = script(lab);
  EXPECT_THAT(text, HasSubstr("link add u0 mtu 1500 type ifb\n"));
  EXPECT_THAT(text, HasSubstr("filter add dev p0 ingress matchall action mirred egress redirect "
                              "dev u0\n"));
  EXPECT_THAT(text, HasSubstr("qdisc change dev u0 root handle 1: netem "));
}

TEST(ShellScript, LeavesRdmaOutOfATcpLab)
{
  lab::Lab lab = test::two_hosts();
  lab.traffic.erase(lab.traffic.begin());
  lab.groups = {{"tcp"}};
  EXPECT_THAT(script(lab), Not(HasSubstr("rxe")));
}

TEST(ShellScript, FreeTextStaysInComments)
{
  lab::Lab lab = test::two_hosts();
  lab.hypothesis = "first\nrm -rf /important\n";
  EXPECT_THAT(script(lab), HasSubstr("\n# first\n# rm -rf /important\n"));
  lab.traffic[0].kind =
      lab::TrafficKind::command; // a line break in a program's line is white space
  lab.traffic[0].command.client = "echo {rdma}\nreboot";
  EXPECT_THAT(script(lab), HasSubstr("rl-client echo rxe0 reboot\n"));
}

} // namespace
} // namespace rdmalab::plan
