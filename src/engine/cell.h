#pragma once

#include "base/result.h"
#include "plan/plan.h"
#include "record/record.h"

#include <functional>

namespace rdmalab::engine {

/// Executes one cell in this kernel: builds the fabric, starts the endpoints, applies the
/// condition, measures, and undoes it all. This is the host engine; the vm engine runs it inside
/// its guest. A transport that breaks is no Error but the flow's outcome. `first_packet` is called
/// right before the first message. `keep` leaves the kernel objects to die with the machine: a
/// guest needn't take down what its reset takes down.
Result<record::Cell> execute_cell(const plan::Plan& plan, const plan::Cell& cell,
                                  const std::function<void()>& first_packet, bool keep);

} // namespace rdmalab::engine
