/// Whether sums close, and what is said when they don't.
#include "fault/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmalab::fault {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Ledger books()
{
  Ledger ledger;
  ledger.hosts = {"client", "server"};
  ledger.rules.resize(2);
  ledger.counts.resize(2 * 2 * packet_kinds);
  return ledger;
}

TEST(FaultLedger, NothingCloses)
{
  EXPECT_THAT(check_sums(books()), IsEmpty());
}

TEST(FaultLedger, DropsAndDuplicatesExplainTheDifference)
{
  Ledger ledger = books();
  ledger.at(0, 1, PacketKind::data) = {100, 95, 95};
  ledger.at(1, 0, PacketKind::ack) = {50, 50, 50};
  EXPECT_THAT(
      check_sums(ledger),
      ElementsAre(
          "data packets from client to server: 100 sent, 95 passed on, and faults explain +0"));
  ledger.effects = {{0, 0, 1, PacketKind::data, 8, 0, 1}, {1, 0, 1, PacketKind::data, 0, 3, 0}};
  EXPECT_THAT(check_sums(ledger), IsEmpty());
  ledger.effects[1].duplicated = 2;
  EXPECT_THAT(check_sums(ledger), ElementsAre(HasSubstr("explain -6")));
}

TEST(FaultLedger, EachClassHasToCloseByItself)
{
  Ledger ledger = books();
  ledger.at(0, 1, PacketKind::data) = {10, 10, 9};
  ledger.at(0, 1, PacketKind::nak) = {10, 10, 11};
  EXPECT_THAT(check_sums(ledger),
              ElementsAre(HasSubstr("data packets from client to server: 10 passed on, 9 arrived"),
                          HasSubstr("nak packets")));
}

TEST(FaultLedger, NetemsCountsAreBySourceOrDestination)
{
  Ledger ledger = books();
  ledger.at(0, 1, PacketKind::data) = {100, 97, 90};
  ledger.at(0, 1, PacketKind::cnp) = {10, 9, 8};
  EXPECT_EQ(check_sums(ledger).size(), 4U);
  std::vector<NetemCounts> netems{{0, true, 6, 2, 0}, {1, false, 8, 0, 0}};
  EXPECT_THAT(check_sums(ledger, netems), IsEmpty());
  netems[1].lost = 7;
  EXPECT_THAT(
      check_sums(ledger, netems),
      ElementsAre(HasSubstr(
          "all packets from all to server: 106 passed on, 98 arrived, and faults explain -7")));
  netems[1].corrupted = 1;
  EXPECT_THAT(check_sums(ledger, netems), IsEmpty())
      << "a corrupted one may have arrived as anything";
  netems[1].lost = 0;
  EXPECT_EQ(check_sums(ledger, netems).size(), 1U);
}

TEST(FaultLedger, WhatTheKernelRefusedProvesNothing)
{
  Ledger ledger = books();
  ledger.rules[1].failed = 2;
  ledger.lost_updates = 3;
  EXPECT_THAT(check_sums(ledger), ElementsAre(HasSubstr("3 updates"), HasSubstr("rule 1 2 times")));
}

TEST(FaultLedger, KindsHaveNames)
{
  EXPECT_EQ(to_string(PacketKind::read_response), "read-response");
  EXPECT_EQ(to_string(PacketKind::roce_other), "other-roce");
  EXPECT_EQ(to_string(PacketKind::tcp_syn), "tcp-syn");
  EXPECT_EQ(to_string(PacketKind::other), "other");
}

} // namespace
} // namespace rdmalab::fault
