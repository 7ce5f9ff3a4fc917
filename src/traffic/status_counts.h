#pragma once

#include "record/record.h"
#include "traffic/verbs_objects.h"

#include <algorithm>
#include <array>
#include <string>

namespace rdmalab::traffic {

/// Work completions by status.
class StatusCounts {
public:
  void add(ibv_wc_status status) { ++counts_[std::min<std::size_t>(status, counts_.size() - 1)]; }
  /// `from` IBV_WC_SUCCESS counts all, from the next one only what failed.
  void write(record::Flow& flow, std::size_t from) const
  {
    for (std::size_t i = from; i < counts_.size(); ++i)
      if (counts_[i] != 0)
        flow.completions[status_name(static_cast<ibv_wc_status>(i))] = counts_[i];
  }

private:
  std::array<std::uint64_t, 32> counts_{};
};

/// "send completion 3: IBV_WC_RETRY_EXC_ERR", with the QP where there are several.
inline std::string failed_completion(const std::string& what, std::uint64_t number, std::size_t qps,
                                     std::uint64_t qp, ibv_wc_status status)
{
  const std::string text = qps > 1 ? "QP " + std::to_string(qp) + ": " : "";
  return text + what + " completion " + std::to_string(number) + ": " + status_name(status);
}

} // namespace rdmalab::traffic
