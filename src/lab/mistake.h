#pragma once

#include "lab/lab.h"

#include <string>
#include <vector>

/// Verbs used wrongly on purpose, and how a traffic is expected to end. All of these are the
/// initiator's unless they say otherwise:
///
///   wrong-rkey        posts with a remote key that the target never gave out
///   no-remote-access  the target's memory region is registered without remote access
///   deregistered      the target takes its memory region back after the exchange
///   not-registered    posts with a local key that belongs to no memory region
///   out-of-bounds     addresses the bytes behind the end of the target's memory region
///   long-send         the target's receives hold half a message
///   qp-no-access      the target's QP takes no remote access, whatever its memory region allows
///   misaligned-atomic addresses 8 bytes that don't begin at a multiple of 8
///   qp-reset, qp-init, qp-rtr   the QP is left in this state, and work is posted to it
///   qp-error          the QP is moved to ERROR before work is posted
///   no-exchange       the target never tells its QP number, key and PSN
namespace rdmalab::lab {

/// Where an operation can't make a mistake, why not; "" where it can.
std::string mistake_problem(const Verbs& verbs);

/// The words that `ends` takes for a kind of traffic: "ok", a step that fails ("connect", "post",
/// "drain", "exit") or the name of a failure ("IBV_WC_REM_ACCESS_ERR", "ETIMEDOUT").
std::vector<std::string> ending_words(TrafficKind kind);

/// True for a traffic that goes wrong by itself, without a fault: by a mistake, or because its
/// receives run out. Its `ends` is meant in every condition; another's in the faulted one only.
bool goes_wrong_alone(const Traffic& traffic);

} // namespace rdmalab::lab
