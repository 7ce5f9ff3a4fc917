#pragma once

#include "base/json_fwd.h"

#include <bit>
#include <cstdint>
#include <vector>

namespace rdmalab::record {

/// A log-linear histogram of 64-bit values: 32 buckets a power of two, so a value is known to 1/32
/// (3.1 %). The layout of HdrHistogram (Tene), in the few lines needed. Sparse in JSON: [[bucket,
/// count], …].
class Histogram {
public:
  void add(std::uint64_t value)
  {
    const size_t b = bucket(value);
    if (b >= counts_.size()) counts_.resize(b + 1);
    ++counts_[b];
    ++count_;
    sum_ += value;
    if (count_ == 1 || value < min_) min_ = value;
    if (value > max_) max_ = value;
  }
  void merge(const Histogram& other);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t min() const { return min_; }
  [[nodiscard]] std::uint64_t max() const { return max_; }
  [[nodiscard]] std::uint64_t sum() const { return sum_; }
  /// The smallest value that at least `ppm` of all values do not exceed, as its bucket's upper
  /// edge, at most max(). 0 if empty.
  [[nodiscard]] std::uint64_t quantile(std::uint64_t ppm) const;

  static size_t bucket(std::uint64_t value)
  {
    if (value < 32) return static_cast<size_t>(value);
    const auto shift = static_cast<unsigned>(std::bit_width(value)) - 6;
    return (static_cast<size_t>(shift) << 5) + static_cast<size_t>(value >> shift);
  }
  /// The largest value that falls into bucket b.
  static std::uint64_t upper(size_t b)
  {
    if (b < 64) return b;
    const auto shift = static_cast<unsigned>(b >> 5) - 1;
    return (((static_cast<std::uint64_t>(b & 31) + 32) + 1) << shift) - 1;
  }

  friend void to_json(Json& json, const Histogram& h);
  friend void from_json(const Json& json, Histogram& h);

private:
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t min_ = 0;
  std::uint64_t max_ = 0;
};

} // namespace rdmalab::record
