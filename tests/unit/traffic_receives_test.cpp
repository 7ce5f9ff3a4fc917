#include "base/json.h"
#include "lab/keys.h"
#include "lab/operation.h"
#include "traffic/inbox.h"
#include "traffic/receive_stock.h"
#include "traffic/slots.h"

#include <gtest/gtest.h>

using namespace rdmalab;
using namespace rdmalab::traffic;

namespace {

lab::Verbs sends(std::uint32_t depth, std::uint32_t qps)
{
  lab::Verbs verbs;
  verbs.op = lab::VerbsOp::send;
  verbs.depth = depth;
  verbs.qps = qps;
  return verbs;
}

} // namespace

TEST(Operation, EachIsKnownByTheNameOfTheLabFile)
{
  const lab::Key* key = lab::traffic_table().find("op", "verbs");
  ASSERT_NE(key, nullptr);
  EXPECT_EQ(key->choices.size(), 9U);
  for (const std::string& name : key->choices)
    EXPECT_EQ(lab::operation_of(Json(name).get<lab::VerbsOp>()).name, name);
}

TEST(Inbox, PlacesAreUsedInTurnTheUntouchedOnesFirst)
{
  Inbox inbox(3);
  EXPECT_EQ(inbox.take().index, 0U);
  EXPECT_EQ(inbox.take().index, 1U);
  EXPECT_EQ(inbox.posted(), 2U);
  Inbox::Place came;
  came.index = 1; // receives of a shared queue complete in any order
  came.number = 7;
  came.filled = true;
  inbox.put(came);
  EXPECT_EQ(inbox.posted(), 1U);
  EXPECT_FALSE(inbox.take().filled);
  const Inbox::Place place = inbox.take();
  EXPECT_EQ(place.index, 1U);
  EXPECT_EQ(place.number, 7U);
  EXPECT_EQ(inbox.free(), 0U);
}

TEST(ReceiveStock, LotsComeWhenTheQueueHasBeenEmptyForLongEnough)
{
  lab::Verbs verbs = sends(4, 2);
  EXPECT_TRUE(ReceiveStock(verbs).at_once());
  EXPECT_EQ(ReceiveStock(verbs).first(), 8U);
  verbs.receives = 0;
  verbs.replenish = lab::Replenish::after;
  verbs.replenish_ns = 100;
  ReceiveStock stock(verbs);
  EXPECT_EQ(stock.first(), 0U);
  EXPECT_EQ(stock.most(), 8U);
  EXPECT_EQ(stock.queues(), 2U);
  EXPECT_EQ(stock.next_ns(), ReceiveStock::never);
  stock.ran_empty(1, 1000);
  stock.ran_empty(1, 1050); // it was empty already
  EXPECT_EQ(stock.next_ns(), 1100U);
  EXPECT_FALSE(stock.take(0, 2000));
  EXPECT_FALSE(stock.take(1, 1099));
  EXPECT_TRUE(stock.take(1, 1100));
  EXPECT_FALSE(stock.take(1, 1100));
  verbs.replenish = lab::Replenish::never;
  ReceiveStock none(verbs);
  none.ran_empty(0, 0);
  EXPECT_EQ(none.next_ns(), ReceiveStock::never);
}

TEST(ReceiveStock, ASharedQueueHasThoseOfAllQueuePairs)
{
  lab::Verbs verbs = sends(4, 3);
  verbs.srq = true;
  const ReceiveStock stock(verbs);
  EXPECT_EQ(stock.queues(), 1U);
  EXPECT_EQ(stock.first(), 24U);
}

TEST(Slots, WhatIsWrittenStaysUntilItsReceiveIsPostedAgain)
{
  EndpointSpec spec;
  spec.traffic.message_bytes = 100;
  spec.traffic.verbs = sends(16, 2);
  spec.traffic.verbs.op = lab::VerbsOp::write_notify;
  const Memory target = memory_of(spec, Role::target);
  EXPECT_GE(target.messages.per_qp, 32U + 16);
  EXPECT_EQ(target.notices.per_qp, target.messages.per_qp - 16);
  EXPECT_EQ(target.notices.begin, target.messages.stride * target.messages.per_qp * 2);
  EXPECT_EQ(target.bytes, target.notices.begin + 2 * 64 * target.notices.per_qp);
  EXPECT_EQ(memory_of(spec, Role::initiator).messages.per_qp, 16U);
}

TEST(Slots, ADatagramHasRoomForItsHeaderBeforeIt)
{
  EndpointSpec spec;
  spec.traffic.message_bytes = 1024;
  spec.traffic.verbs = sends(16, 1);
  spec.traffic.verbs.transport = lab::Transport::ud;
  const Memory target = memory_of(spec, Role::target);
  EXPECT_GE(target.messages.offset(0, 0), grh_bytes);
  EXPECT_GE(target.messages.stride, 1024 + grh_bytes);
  EXPECT_EQ(memory_of(spec, Role::initiator).messages.offset(0, 0), 0U);
}
