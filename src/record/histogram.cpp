#include "record/histogram.h"

#include "base/json.h"
#include "base/wide.h"

#include <algorithm>

namespace rdmalab::record {

void Histogram::merge(const Histogram& other)
{
  if (other.count_ == 0) return;
  if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size());
  for (size_t b = 0; b < other.counts_.size(); ++b) counts_[b] += other.counts_[b];
  min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  count_ += other.count_;
  sum_ += other.sum_;
}

std::uint64_t Histogram::quantile(std::uint64_t ppm) const
{
  const auto wanted =
      static_cast<std::uint64_t>((static_cast<Wide>(count_) * ppm + 999'999) / 1'000'000);
  std::uint64_t seen = 0;
  for (size_t b = 0; b < counts_.size(); ++b) {
    seen += counts_[b];
    if (seen >= wanted && seen > 0) return std::min(upper(b), max_);
  }
  return max_;
}

void to_json(Json& json, const Histogram& h)
{
  Json buckets = Json::array();
  for (size_t b = 0; b < h.counts_.size(); ++b)
    if (h.counts_[b] != 0) buckets.push_back({b, h.counts_[b]});
  json = Json{
      {"count", h.count_}, {"sum", h.sum_}, {"min", h.min_}, {"max", h.max_}, {"buckets", buckets}};
}

void from_json(const Json& json, Histogram& h)
{
  h = Histogram{};
  h.count_ = json.value("count", std::uint64_t{0});
  h.sum_ = json.value("sum", std::uint64_t{0});
  h.min_ = json.value("min", std::uint64_t{0});
  h.max_ = json.value("max", std::uint64_t{0});
  constexpr size_t last = 60 * 32 + 31;
  for (const Json& pair : json.value("buckets", Json::array())) {
    const auto b = pair.at(0).get<size_t>();
    if (b > last) throw Json::other_error::create(501, "histogram bucket out of range", &json);
    if (b >= h.counts_.size()) h.counts_.resize(b + 1);
    h.counts_[b] = pair.at(1).get<std::uint64_t>();
  }
}

} // namespace rdmalab::record
