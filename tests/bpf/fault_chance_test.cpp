/// Dice that don't depend on timing: probability, shared decisions, bursts.
#include "fault.h"
#include "fault_fixture.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace rdmalab::fault::test {
namespace {

using wire::PacketClass;

constexpr std::uint32_t isn = 0xfffffff0;

class FaultChance : public FaultPrograms {};

/// The 99.9 % interval of a binomial share, by the normal approximation.
void expect_share(std::size_t hits, std::size_t of, double p)
{
  const double mean = p * static_cast<double>(of);
  const double bound = 3.2905 * std::sqrt(mean * (1 - p));
  EXPECT_NEAR(static_cast<double>(hits), mean, bound);
}

TEST_F(FaultChance, ProbabilityIsRepeatableAndRight)
{
  Rule rule = dropping();
  rule.probability_ppm = 10'000;
  constexpr std::uint32_t packets = 100'000;
  const auto hits = [&](std::uint64_t seed, bool backwards) {
    arm({rule}, seed, 0, false);
    std::vector<std::uint32_t> hit;
    for (std::uint32_t i = 0; i < packets; ++i) {
      const std::uint32_t psn = backwards ? packets - 1 - i : i;
      if (out(send(psn, 0)) == drop) hit.push_back(psn);
    }
    if (backwards) std::ranges::reverse(hit);
    return hit;
  };
  const auto once = hits(7, false);
  expect_share(once.size(), packets, 0.01);
  EXPECT_EQ(hits(7, true), once) << "whatever the order";
  const auto other = hits(8, false);
  expect_share(other.size(), packets, 0.01);
  EXPECT_NE(other, once);
  std::vector<std::uint32_t> both;
  std::ranges::set_intersection(once, other, std::back_inserter(both));
  EXPECT_LT(both.size(), 40U) << "seeds are independent";
  // And the C++ side says which.
  const auto compiled = compile(rule, 8);
  ASSERT_TRUE(compiled);
  std::vector<std::uint32_t> told;
  for (std::uint32_t psn = 0; psn < packets; ++psn)
    if (fault_draw(compiled->seed, 100, fault_number(psn, 1)) < compiled->chance)
      told.push_back(psn);
  EXPECT_EQ(told, other);
}

TEST_F(FaultChance, ARetransmissionIsDecidedAnew)
{
  Rule rule = dropping();
  rule.probability_ppm = 500'000;
  arm({rule});
  std::size_t hit = 0;
  for (int i = 0; i < 1000; ++i) hit += out(send(5)) == drop ? 1 : 0;
  expect_share(hit, 1000, 0.5);
}

TEST_F(FaultChance, ASeedGroupLosesTheSamePacketsOfRoceAndTcp)
{
  Rule of_roce = dropping();
  of_roce.classes = {PacketClass::data};
  of_roce.probability_ppm = 50'000;
  of_roce.seed_group = "same";
  Rule of_tcp = of_roce;
  of_tcp.name = "drop of TCP";
  of_tcp.classes = {};
  of_tcp.tcp_kinds = tcp_kind_data;
  arm({of_roce, of_tcp}, 5);
  EXPECT_EQ(run(Program::entered, tcp(ipv4(), wire::tcp_syn, isn)).verdict, next);
  EXPECT_EQ(out(tcp(ipv4(), wire::tcp_syn, isn)), pass);
  std::vector<int> roce_lost;
  std::vector<int> tcp_lost;
  for (int i = 0; i < 2000; ++i) {
    const auto n = static_cast<std::uint32_t>(i);
    if (out(send(n)) == drop) roce_lost.push_back(i);
    EXPECT_EQ(out(tcp(ipv4(), wire::tcp_ack, isn + 1)), pass);
    if (out(tcp(ipv4(), wire::tcp_ack, isn + 1 + n * 100, 100)) == drop) tcp_lost.push_back(i);
  }
  EXPECT_EQ(roce_lost, tcp_lost);
  expect_share(roce_lost.size(), 2000, 0.05);
}

TEST_F(FaultChance, BurstsAreAsLongAsAsked)
{
  Rule rule = dropping();
  rule.burst = Burst{20'000, 250'000}; // a burst of 4, 50 packets apart: 2/27 are lost
  const auto lost = [&](std::uint64_t seed) {
    arm({rule}, seed, 0, false);
    std::vector<bool> hit;
    for (std::uint32_t i = 0; i < 20'000; ++i) hit.push_back(out(send(i, 0)) == drop);
    return hit;
  };
  const auto once = lost(3);
  EXPECT_EQ(lost(3), once);
  EXPECT_NE(lost(4), once);
  const auto hits = static_cast<double>(std::ranges::count(once, true));
  double bursts = 0;
  for (std::size_t i = 0; i < once.size(); ++i)
    bursts += once[i] && (i == 0 || !once[i - 1]) ? 1 : 0;
  EXPECT_NEAR(hits / 20'000, 20.0 / 270, 0.02);
  EXPECT_NEAR(hits / bursts, 4, 0.6);
}

} // namespace
} // namespace rdmalab::fault::test
