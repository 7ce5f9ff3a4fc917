#include "lab/mistake.h"

#include "lab/functions.h"

namespace rdmalab::lab {

std::string mistake_problem(const Verbs& verbs)
{
  const bool send = verbs.op == VerbsOp::send;
  switch (verbs.mistake) {
  case Mistake::wrong_rkey:
  case Mistake::no_remote_access:
  case Mistake::out_of_bounds:
    return send ? "a SEND names no remote memory" : "";
  case Mistake::long_send:
    return send ? "" : "only a SEND's length has to fit a receive";
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
