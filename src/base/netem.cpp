#include "base/netem.h"

#include "base/json.h"

namespace rdmalab {

RDMALAB_JSON(Netem, limit_packets, delay_ns, jitter_ns, keep_order, rate_bps, loss_ppm,
             loss_correlation_ppm, gilbert_elliott, ge_p_ppm, ge_r_ppm, ge_bad_loss_ppm,
             ge_good_loss_ppm, duplicate_ppm, duplicate_correlation_ppm, corrupt_ppm,
             corrupt_correlation_ppm, reorder_ppm, reorder_correlation_ppm, reorder_gap, seed)

} // namespace rdmalab
