#pragma once

#include <cstdint>
#include <iterator>
#include <map>

namespace rdmalab::analysis {

/// What a TCP receiver has: half-open intervals of sequence numbers.
class IntervalSet {
public:
  /// Returns whether anything of [begin, end) was new.
  bool add(std::int64_t begin, std::int64_t end)
  {
    if (begin >= end) return false;
    auto at = parts_.upper_bound(begin);
    if (at != parts_.begin() && std::prev(at)->second >= begin) --at;
    if (at != parts_.end() && at->first <= begin && at->second >= end) return false;
    while (at != parts_.end() && at->first <= end) {
      begin = at->first < begin ? at->first : begin;
      end = at->second > end ? at->second : end;
      at = parts_.erase(at);
    }
    parts_[begin] = end;
    return true;
  }
  [[nodiscard]] bool contains(std::int64_t begin, std::int64_t end) const
  {
    auto at = parts_.upper_bound(begin);
    return at != parts_.begin() && std::prev(at)->second >= end;
  }
  /// The end of the interval that holds `from`; `from` itself if none does.
  [[nodiscard]] std::int64_t reaches(std::int64_t from) const
  {
    auto at = parts_.upper_bound(from);
    if (at == parts_.begin() || std::prev(at)->second < from) return from;
    return std::prev(at)->second;
  }
  /// Forgets everything before `up_to` that no later call asks for.
  void drop_before(std::int64_t up_to)
  {
    while (parts_.size() > 1 && parts_.begin()->second < up_to) parts_.erase(parts_.begin());
  }

private:
  std::map<std::int64_t, std::int64_t> parts_; ///< begin to end
};

} // namespace rdmalab::analysis
