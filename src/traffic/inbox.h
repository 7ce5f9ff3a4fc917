#pragma once

#include <cstdint>
#include <vector>

namespace rdmalab::traffic {

/// The places of one receive queue, in the order in which they are used: first those that no
/// message was in, then the one whose message has been there longest. As many as the ring has, so
/// that most messages need not be looked at before the window is over.
class Inbox {
public:
  /// A place, and the message that was received into it.
  struct Place {
    std::uint32_t index = 0;
    std::uint32_t qp = 0;
    std::uint64_t number = 0; ///< of the message
    bool filled = false;
    bool odd = false; ///< something but its payload was wrong
  };

  explicit Inbox(std::uint32_t places) : places_(places)
  {
    for (std::uint32_t i = 0; i < places; ++i) places_[i].index = i;
    free_ = places;
  }

  /// The place for the next receive. There is one as long as fewer receives are posted than there
  /// are places.
  Place take()
  {
    const Place place = places_[first_];
    first_ = next(first_, 1);
    --free_;
    ++posted_;
    return place;
  }
  /// A receive was used: its place comes last in the order.
  void put(const Place& place)
  {
    places_[next(first_, free_)] = place;
    ++free_;
    --posted_;
  }
  /// Receives posted and not used.
  [[nodiscard]] std::uint32_t posted() const { return posted_; }
  [[nodiscard]] std::uint32_t free() const { return free_; }

private:
  [[nodiscard]] std::size_t next(std::size_t at, std::size_t by) const
  {
    const std::size_t sum = at + by;
    return sum < places_.size() ? sum : sum - places_.size();
  }

  std::vector<Place> places_; ///< a ring: free_ of them from first_ on count
  std::size_t first_ = 0;
  std::uint32_t free_ = 0;
  std::uint32_t posted_ = 0;
};

} // namespace rdmalab::traffic
