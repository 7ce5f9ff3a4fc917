#include "lab/operation.h"

#include <algorithm>
#include <array>

namespace rdmalab::lab {

namespace {

constexpr std::array<Operation, 3> operations{{{VerbsOp::send, "send", true, false},
                                               {VerbsOp::write, "write", false, false},
                                               {VerbsOp::read, "read", false, true}}};

} // namespace

const Operation& operation_of(VerbsOp op)
{
  return *std::find_if(operations.begin(), operations.end(),
                       [&](const Operation& o) { return o.op == op; });
}

} // namespace rdmalab::lab
