#pragma once

#include "base/json_fwd.h"

#include <cstdint>

namespace rdmalab {

/// netem's parameters in its own terms (tc-netem(8), TCA_NETEM_* of linux/pkt_sched.h).
struct Netem {
  std::uint32_t limit_packets = 1000;
  std::uint64_t delay_ns = 0;
  std::uint64_t jitter_ns = 0;
  bool keep_order = true; ///< with jitter: nothing overtakes (netem needs a rate for it)
  std::uint64_t rate_bps = 0;
  std::uint64_t loss_ppm = 0;
  std::uint64_t loss_correlation_ppm = 0;
  bool gilbert_elliott = false; ///< then the four below, and loss_ppm is not used
  std::uint64_t ge_p_ppm = 0;
  std::uint64_t ge_r_ppm = 0;
  std::uint64_t ge_bad_loss_ppm = 0;
  std::uint64_t ge_good_loss_ppm = 0;
  std::uint64_t duplicate_ppm = 0;
  std::uint64_t duplicate_correlation_ppm = 0;
  std::uint64_t corrupt_ppm = 0;
  std::uint64_t corrupt_correlation_ppm = 0;
  std::uint64_t reorder_ppm = 0;
  std::uint64_t reorder_correlation_ppm = 0;
  std::uint32_t reorder_gap = 0;
  std::uint64_t seed = 0;
  bool operator==(const Netem&) const = default;
};
RDMALAB_JSON_DECLARE(Netem)

} // namespace rdmalab
