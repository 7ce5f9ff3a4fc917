#include "lab/mistake.h"

#include "lab/functions.h"
#include "lab/operation.h"

namespace rdmalab::lab {

namespace {

constexpr const char* unanswered = "over an unreliable transport nobody tells of it";

} // namespace

std::string mistake_problem(const Verbs& verbs)
{
  const Operation& op = operation_of(verbs.op);
  const bool answered = reliable(verbs);
  if (op.local && verbs.mistake != Mistake::none) return "it sends nothing";
  switch (verbs.mistake) {
  case Mistake::wrong_rkey:
  case Mistake::no_remote_access:
  case Mistake::out_of_bounds:
  case Mistake::qp_no_access:
    if (!answered) return unanswered;
    return one_sided(op) ? "" : "a SEND names no remote memory";
  case Mistake::long_send:
    if (!answered) return unanswered;
    return op.lands ? "" : "only a SEND's length has to fit a receive";
  case Mistake::misaligned_atomic:
    return op.atomic ? "" : "only atomics need an aligned address";
  case Mistake::deregistered:
    return answered ? "" : unanswered;
  default:
    return {};
  }
}

std::vector<std::string> ending_words(TrafficKind kind)
{
  switch (kind) {
  case TrafficKind::verbs: {
    std::vector<std::string> words{"ok", "connect", "post", "drain"};
    for (const std::string& status : words_of(Parameter::status))
      if (status != "IBV_WC_SUCCESS") words.push_back(status);
    return words;
  }
  case TrafficKind::tcp:
    return {"ok", "drain", "ETIMEDOUT", "ECONNRESET", "EPIPE"};
  case TrafficKind::command:
    return {"ok", "exit"};
  }
  return {};
}

bool goes_wrong_alone(const Traffic& traffic)
{
  if (traffic.kind != TrafficKind::verbs) return false;
  const Verbs& verbs = traffic.verbs;
  return verbs.mistake != Mistake::none || verbs.replenish != Replenish::at_once ||
         verbs.receives == 0U;
}

} // namespace rdmalab::lab
