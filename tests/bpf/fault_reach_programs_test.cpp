/// What enters is marked cold where no rule can reach it, and a cold packet passes the port without
/// a look; on every shape of packet.
#include "fault.h"
#include "fault_fixture.h"

namespace rdmalab::fault::test {
namespace {

class FaultReachPrograms : public FaultPrograms {
protected:
  /// The way of a packet through both programs.
  int through(const Frame& frame)
  {
    mark_ = run(Program::entered, frame).mark;
    return run(Program::port_out, frame, mark_).verdict;
  }
  [[nodiscard]] bool cold() const { return (mark_ & FAULT_MARK_COLD) != 0; }

private:
  std::uint32_t mark_ = 0;
};

Rule on_data()
{
  Rule rule = dropping();
  rule.flow = to_server;
  rule.classes = {wire::PacketClass::data};
  return rule;
}

TEST_F(FaultReachPrograms, ANumberIsFoundAndTheRestIsCold)
{
  Rule rule = on_data();
  rule.sequences = {3, 5};
  for (const bool trace : {false, true}) {
    for (const auto& builder : every_builder()) {
      arm({rule}, 1, 0, trace);
      for (std::uint32_t psn = 0; psn < 8; ++psn) {
        const bool hit = psn == 3 || psn == 5;
        EXPECT_EQ(through(roce(builder, "RC_SEND_ONLY", psn, 64)), hit ? drop : pass) << psn;
        EXPECT_EQ(cold(), psn < 3 || psn > 5) << psn;
      }
      EXPECT_EQ(through(acknowledge(builder, wire::Syndrome::ack(), 3)), pass);
      EXPECT_TRUE(cold());
      EXPECT_EQ(through(tcp(builder, wire::tcp_ack, 3, 64)), pass);
      EXPECT_TRUE(cold());
      EXPECT_EQ(through(roce(builder, "RC_SEND_ONLY", 3, 64, 99)), pass); // another queue pair
      EXPECT_TRUE(cold());
      EXPECT_EQ(ledger().rules.at(0).fired, 2U);
      EXPECT_EQ(ledger().at(0, 1, PacketKind::data).passed, 7U);
    }
  }
}

TEST_F(FaultReachPrograms, TransmissionsOfANumberAreCounted)
{
  Rule rule = on_data();
  rule.sequences = {4};
  rule.transmission = Range{2, 2};
  for (const auto& builder : every_builder()) {
    arm({rule});
    std::vector<int> verdicts;
    for (int again = 0; again < 3; ++again) {
      EXPECT_EQ(through(roce(builder, "RC_SEND_ONLY", 3, 64)), pass);
      verdicts.push_back(through(roce(builder, "RC_SEND_ONLY", 4, 64)));
    }
    EXPECT_EQ(verdicts, (std::vector<int>{pass, drop, pass}));
  }
}

TEST_F(FaultReachPrograms, TransmissionsOfManyPacketsAreToldApart)
{
  constexpr std::uint32_t packets = 5000;
  Rule rule = on_data();
  rule.flow.reset();
  rule.classes = {};
  rule.transmission = Range{2, 2};
  arm({rule}, 1, 0, false);
  for (const bool again : {false, true}) {
    std::uint32_t dropped = 0;
    for (std::uint32_t i = 0; i < packets; ++i) {
      if (out(send(i)) == drop) ++dropped;
      if (out(acknowledge(ipv4(), wire::Syndrome::ack(), i, server_qpn)) == drop) ++dropped;
    }
    EXPECT_EQ(dropped, again ? 2 * packets : 0);
  }
  EXPECT_EQ(ledger().lost_updates, 0U);
}

TEST_F(FaultReachPrograms, ARuleThatCountsReachesAll)
{
  Rule rule = on_data();
  rule.every = 3;
  arm({rule});
  std::vector<int> verdicts;
  for (std::uint32_t psn = 0; psn < 6; ++psn) verdicts.push_back(through(send(psn)));
  EXPECT_EQ(verdicts, (std::vector<int>{pass, pass, drop, pass, pass, drop}));
}

TEST_F(FaultReachPrograms, PacketsOfUnknownFlowsAreStillToldOf)
{
  Rule rule = on_data();
  rule.flow.reset();
  rule.sequences = {3};
  arm({rule});
  EXPECT_EQ(through(roce(ipv4(), "RC_SEND_ONLY", 3, 64, 99)), pass);
  EXPECT_FALSE(cold());
  EXPECT_EQ(ledger().rules.at(0).unknown_flow, 1U);
}

TEST_F(FaultReachPrograms, ColdPacketsPassForAHeldOne)
{
  Rule rule = on_data();
  rule.sequences = {0};
  rule.action = wire::FaultAction::reorder;
  rule.passing = 2;
  arm({rule});
  EXPECT_EQ(through(send(0, 200)), drop); // into the stash
  EXPECT_EQ(through(send(1)), pass);
  EXPECT_TRUE(cold());
  const Frame second = send(2);
  const auto outcome = run(Program::port_out, second, run(Program::entered, second).mark);
  EXPECT_EQ(outcome.verdict, pass);
  EXPECT_EQ(outcome.frame.size(), send(0, 200).size()); // the held one rides on it
}

TEST_F(FaultReachPrograms, ATcpStreamBeginsAnewWithItsSyn)
{
  Rule rule = dropping();
  rule.flow = tcp_to_server;
  rule.tcp_kinds = tcp_kind_data;
  rule.sequence = Range{1, 1};
  arm({rule});
  for (const std::uint32_t isn : {1000U, 0xfffffffaU}) {
    EXPECT_EQ(through(tcp(ipv4(), wire::tcp_syn, isn)), pass);
    EXPECT_EQ(through(tcp(ipv4(), wire::tcp_ack, isn + 1, 64)), drop);
    EXPECT_EQ(through(tcp(ipv4(), wire::tcp_ack, isn + 65, 64)), pass);
  }
}

} // namespace
} // namespace rdmalab::fault::test
