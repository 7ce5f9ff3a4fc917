/// A response larger than the channel, from one thread to another.
#include "base/clock.h"
#include "engine/channel.h"

#include <thread>

#include <gtest/gtest.h>

namespace rdmalab::engine {
namespace {

std::string received(Channel& channel, std::initializer_list<std::string_view> texts)
{
  std::thread guest([&channel, &texts] {
    channel.write_response(texts);
    channel.set_state(GuestState::done);
  });
  Status taken;
  while (taken && channel.state() != GuestState::done) {
    taken = channel.take_part();
    sleep_until_ns(monotonic_ns() + 100'000);
  }
  EXPECT_TRUE(taken);
  guest.join();
  auto text = channel.response();
  EXPECT_TRUE(text);
  return text ? *text : std::string{};
}

TEST(Channel, CarriesATextAsItIs)
{
  auto channel = Channel::create();
  ASSERT_TRUE(channel);
  EXPECT_EQ(received(*channel, {"one", "", std::string_view("\0two", 4)}),
            std::string("one\0two", 7));
}

TEST(Channel, CarriesMoreThanItHolds)
{
  auto channel = Channel::create();
  ASSERT_TRUE(channel);
  std::string large(2 * Channel::region_bytes + 12'345, 'x');
  for (std::size_t i = 0; i < large.size(); i += 4099) large[i] = static_cast<char>('a' + i % 26);
  EXPECT_TRUE(received(*channel, {"head", large, "tail"}) == "head" + large + "tail");
}

} // namespace
} // namespace rdmalab::engine
