#include "lab/sweep.h"

namespace rdmalab::lab {

Lab at_rate(const Lab& lab, std::uint64_t rate_ppm)
{
  Lab point = lab;
  for (Fault& fault : point.faults)
    if (fault.name == lab.sweep.fault) fault.rate_ppm = rate_ppm;
  point.expect.clear();
  point.claims.clear();
  point.sweep = {};
  return point;
}

} // namespace rdmalab::lab
