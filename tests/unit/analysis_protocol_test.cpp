/// Each rule of the protocol check, broken once; and what is legal although it looks odd.
#include "analysis/recovery.h"
#include "recovery_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmalab::analysis {
namespace {

using test::RcScript;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view only = "RC_SEND_ONLY";

ProtocolCheck check(RcScript& script)
{
  script.finish();
  const RecoveryReport r = analyse_recovery(script.owned.trace, script.flows);
  EXPECT_EQ(r.flows.size(), 1U);
  return r.flows.at(0).check;
}

/// The script breaks a rule whose text has this in it.
Violation broken(RcScript& script, std::string_view rule)
{
  const ProtocolCheck c = check(script);
  EXPECT_TRUE(c.checked);
  if (!c.violation) {
    ADD_FAILURE() << "no rule is broken, but: " << rule;
    return {};
  }
  EXPECT_THAT(c.violation->rule, HasSubstr(rule)) << c.violation->detail;
  EXPECT_FALSE(c.violation->section.empty());
  return *c.violation;
}

/// PSN 1 is lost, 2 reveals it: sent at 0, 1, 2 us.
RcScript gap()
{
  RcScript s;
  s.request(0, 0, only).request(1'000, 1, only, true).request(2'000, 2, only);
  return s;
}

TEST(Protocol, CoalescedAcksAndReplayAreLegal)
{
  RcScript s = gap();
  s.nak(13'000, 1).request(25'000, 1, only).request(26'000, 2, only).ack(37'000, 2);
  const ProtocolCheck c = check(s);
  EXPECT_TRUE(c.checked);
  EXPECT_FALSE(c.violation) << c.violation->rule;
  EXPECT_THAT(c.deviations, IsEmpty());
  EXPECT_EQ(c.checked_packets, 7U);
}

TEST(Protocol, ARequestIsLeftOut)
{
  RcScript s;
  s.request(0, 0, only).request(1'000, 2, only);
  const Violation v = broken(s, "the one behind the request before");
  EXPECT_THAT(v.packets, ElementsAre(1U, 2U));
  EXPECT_EQ(v.detail, "PSN 2 after 0");
}

TEST(Protocol, AMessageWithoutItsLastPacket)
{
  RcScript s;
  s.request(0, 0, "RC_SEND_FIRST").request(1'000, 1, "RC_SEND_ONLY");
  broken(s, "first, middle");
}

TEST(Protocol, AMiddleOfNoMessage)
{
  RcScript s;
  s.request(0, 0, only).request(1'000, 1, "RC_SEND_MIDDLE");
  broken(s, "first, middle");
}

TEST(Protocol, ASecondNak)
{
  RcScript s = gap();
  s.nak(13'000, 1).nak(14'000, 1);
  const Violation v = broken(s, "sends none until the expected PSN arrives");
  EXPECT_THAT(v.packets, ElementsAre(3U, 6U, 7U));
}

TEST(Protocol, ANakOfTheWrongPsn)
{
  RcScript s = gap();
  s.nak(13'000, 2);
  broken(s, "names the PSN that the responder expects");
}

TEST(Protocol, ANakWithoutAGap)
{
  RcScript s;
  s.request(0, 0, only).nak(12'000, 1);
  broken(s, "follows a request that left out a PSN");
}

TEST(Protocol, AnAckOfWhatDidNotArrive)
{
  RcScript s = gap();
  s.ack(13'000, 2);
  broken(s, "only requests that arrived in order");
}

TEST(Protocol, AcksGoBack)
{
  RcScript s;
  s.request(0, 0, only).request(1'000, 1, only).ack(12'000, 1).ack(13'000, 0);
  broken(s, "don't go back");
}

TEST(Protocol, ReplayBeginsBehindTheNakedPsn)
{
  RcScript s;
  s.request(0, 0, only).request(1'000, 1, only, true).request(2'000, 2, only);
  s.request(3'000, 3, only).nak(13'000, 1).request(25'000, 2, only);
  broken(s, "from the NAKed PSN or before");
}

TEST(Protocol, ReadResponsesLeaveOneOut)
{
  RcScript s;
  s.request(0, 0, "RC_RDMA_READ_REQUEST", false, 3);
  s.result(12'000, 0, "RC_RDMA_READ_RESPONSE_FIRST");
  s.result(13'000, 2, "RC_RDMA_READ_RESPONSE_LAST");
  broken(s, "follow each other");
}

TEST(Protocol, AReadResponseThatNobodyAskedFor)
{
  RcScript s;
  s.request(0, 0, only).result(12'000, 0, "RC_RDMA_READ_RESPONSE_ONLY");
  broken(s, "answers a READ request");
}

TEST(Protocol, OddThingsAreNamedNotFailed)
{
  RcScript s;
  s.request(0, 0, only).request(1'000, 0, only); // sent again for no reason
  s.ack(12'000, 0).request(30'000, 0, only).ack(42'000, 0);
  const ProtocolCheck c = check(s);
  EXPECT_FALSE(c.violation);
  ASSERT_EQ(c.deviations.size(), 2U);
  EXPECT_EQ(c.deviations[0].name, "acknowledged-again");
  EXPECT_EQ(c.deviations[1].name, "unexplained");
  EXPECT_EQ(c.deviations[1].count, 2U);
  EXPECT_FALSE(c.deviations[1].why.empty());
}

TEST(Protocol, ReceiverNotReady)
{
  RcScript s;
  s.request(0, 0, only).answer(12'000, 0, wire::Syndrome::rnr(1)).request(50'000, 0, only);
  s.ack(62'000, 0);
  s.finish();
  const RecoveryReport r = analyse_recovery(s.owned.trace, s.flows);
  const FlowRecovery& f = r.flows.at(0);
  EXPECT_FALSE(f.check.violation);
  EXPECT_THAT(f.check.deviations, IsEmpty());
  ASSERT_EQ(f.episodes.size(), 1U);
  EXPECT_EQ(f.episodes[0].by, Trigger::rnr);
  EXPECT_EQ(f.episodes[0].cause, "receiver not ready");
  EXPECT_TRUE(f.episodes[0].end_ns);
}

} // namespace
} // namespace rdmalab::analysis
