#pragma once

#include "lab/lab.h"

namespace rdmalab::lab {

/// What a verbs operation is like.
struct Operation {
  VerbsOp op;
  const char* name; ///< as lab files write it
  bool receives;    ///< each message takes a receive of the target's, which sees it arrive
  bool reads;       ///< payload flows from the target to the initiator
};

const Operation& operation_of(VerbsOp op);

} // namespace rdmalab::lab
