#include "lab/functions.h"

#include <algorithm>

namespace rdmalab::lab {

const std::vector<Signature>& signatures()
{
  using P = Parameter;
  static const std::vector<Signature> all{
      {Function::retention, "retention", Dimension::ratio, {P::traffic}, {}},
      {Function::goodput, "goodput", Dimension::rate, {P::traffic}, {P::condition}},
      {Function::latency, "latency", Dimension::time, {P::traffic, P::percentile}, {P::condition}},
      {Function::figure, "figure", Dimension::any, {P::traffic}, {P::condition}},
      {Function::cpu, "cpu", Dimension::ratio, {P::traffic, P::host}, {P::part, P::condition}},
      {Function::cpu_per_gib,
       "cpu_per_gib",
       Dimension::time,
       {P::traffic, P::host},
       {P::condition}},
      {Function::counter, "counter", Dimension::count, {P::host, P::counter}, {P::traffic}},
      {Function::observed, "observed", Dimension::ratio, {P::fault}, {}},
      {Function::corrupt, "corrupt", Dimension::count, {P::traffic}, {}},
      {Function::fired, "fired", Dimension::count, {P::rule}, {}},
      {Function::matched, "matched", Dimension::count, {P::rule}, {}},
      {Function::completions,
       "completions",
       Dimension::count,
       {P::traffic, P::status},
       {P::condition}},
      {Function::messages, "messages", Dimension::count, {P::traffic}, {P::condition}},
      {Function::setup, "setup", Dimension::time, {P::traffic, P::step}, {}},
      {Function::syscalls, "syscalls", Dimension::ratio, {P::traffic, P::host}, {}},
      {Function::copies, "copies", Dimension::ratio, {P::traffic, P::host}, {}},
      {Function::copied, "copied", Dimension::ratio, {P::traffic, P::host}, {}},
      {Function::wakeups, "wakeups", Dimension::ratio, {P::traffic, P::host}, {}},
      {Function::switches, "switches", Dimension::ratio, {P::traffic, P::host}, {}},
      {Function::softirqs, "softirqs", Dimension::ratio, {P::traffic, P::host}, {}},
      {Function::packets, "packets", Dimension::ratio, {P::traffic, P::host}, {}},
      {Function::stage, "stage", Dimension::ratio, {P::traffic, P::host, P::stage}, {}},
      {Function::per_message, "per_message", Dimension::time, {P::traffic, P::host}, {}},
      {Function::per_byte, "per_byte", Dimension::time, {P::traffic, P::host}, {}},
      {Function::wire, "wire", Dimension::time, {P::traffic}, {}},
  };
  return all;
}

const Signature& signature_of(Function function)
{
  return *std::find_if(signatures().begin(), signatures().end(),
                       [&](const Signature& s) { return s.function == function; });
}

bool needs_path(Function function)
{
  switch (function) {
  case Function::syscalls:
  case Function::copies:
  case Function::copied:
  case Function::wakeups:
  case Function::switches:
  case Function::softirqs:
  case Function::packets:
  case Function::stage:
  case Function::per_message:
  case Function::per_byte:
  case Function::wire:
    return true;
  default:
    return false;
  }
}

std::string name_of(Parameter parameter)
{
  switch (parameter) {
  case Parameter::traffic:
    return "traffic";
  case Parameter::host:
    return "host";
  case Parameter::fault:
    return "fault";
  case Parameter::rule:
    return "rule";
  case Parameter::counter:
    return "counter";
  case Parameter::status:
    return "status";
  case Parameter::percentile:
    return "percentile";
  case Parameter::part:
    return "part";
  case Parameter::stage:
    return "stage";
  case Parameter::step:
    return "step";
  case Parameter::condition:
    return "condition";
  }
  return {};
}

std::string usage(const Signature& signature)
{
  std::string text = signature.name + "(";
  for (const Parameter p : signature.required)
    text += (text.back() == '(' ? "" : ", ") + name_of(p);
  for (const Parameter p : signature.optional) text += "[, " + name_of(p) + "]";
  return text + ")";
}

const std::vector<std::string>& words_of(Parameter parameter)
{
  static const std::vector<std::string> percentiles{"p50", "p99", "p999", "max"};
  static const std::vector<std::string> parts{"app", "system", "rxe", "softirq", "total"};
  static const std::vector<std::string> stages{"application", "syscall",  "copy",   "checksum",
                                               "stack",       "rxe",      "device", "softirq",
                                               "wakeup",      "scheduler"};
  // What VerbsLink times (Flow::setup_ns).
  static const std::vector<std::string> steps{"register", "qp", "exchange", "rts", "cm"};
  static const std::vector<std::string> conditions{"baseline", "faulted"};
  // rxe's hw_counters (rxe_hw_counters.c; the last two since Linux 7) and an interface's
  // statistics.
  static const std::vector<std::string> counters{"sent_pkts",
                                                 "rcvd_pkts",
                                                 "duplicate_request",
                                                 "out_of_seq_request",
                                                 "rcvd_rnr_err",
                                                 "send_rnr_err",
                                                 "rcvd_seq_err",
                                                 "ack_deferred",
                                                 "retry_exceeded_err",
                                                 "retry_rnr_exceeded_err",
                                                 "completer_retry_err",
                                                 "send_err",
                                                 "link_downed",
                                                 "rdma_sends",
                                                 "rdma_recvs",
                                                 "sent_bytes",
                                                 "rcvd_bytes",
                                                 "rx_packets",
                                                 "tx_packets",
                                                 "rx_bytes",
                                                 "tx_bytes",
                                                 "rx_errors",
                                                 "tx_errors",
                                                 "rx_dropped",
                                                 "tx_dropped"};
  // enum ibv_wc_status (infiniband/verbs.h)
  static const std::vector<std::string> statuses{
      "IBV_WC_SUCCESS",           "IBV_WC_LOC_LEN_ERR",
      "IBV_WC_LOC_QP_OP_ERR",     "IBV_WC_LOC_EEC_OP_ERR",
      "IBV_WC_LOC_PROT_ERR",      "IBV_WC_WR_FLUSH_ERR",
      "IBV_WC_MW_BIND_ERR",       "IBV_WC_BAD_RESP_ERR",
      "IBV_WC_LOC_ACCESS_ERR",    "IBV_WC_REM_INV_REQ_ERR",
      "IBV_WC_REM_ACCESS_ERR",    "IBV_WC_REM_OP_ERR",
      "IBV_WC_RETRY_EXC_ERR",     "IBV_WC_RNR_RETRY_EXC_ERR",
      "IBV_WC_LOC_RDD_VIOL_ERR",  "IBV_WC_REM_INV_RD_REQ_ERR",
      "IBV_WC_REM_ABORT_ERR",     "IBV_WC_INV_EECN_ERR",
      "IBV_WC_INV_EEC_STATE_ERR", "IBV_WC_FATAL_ERR",
      "IBV_WC_RESP_TIMEOUT_ERR",  "IBV_WC_GENERAL_ERR"};
  static const std::vector<std::string> any;
  switch (parameter) {
  case Parameter::counter:
    return counters;
  case Parameter::status:
    return statuses;
  case Parameter::percentile:
    return percentiles;
  case Parameter::part:
    return parts;
  case Parameter::stage:
    return stages;
  case Parameter::step:
    return steps;
  case Parameter::condition:
    return conditions;
  default:
    return any;
  }
}

std::string& field_of(Call& call, Parameter parameter)
{
  switch (parameter) {
  case Parameter::host:
    return call.host;
  case Parameter::fault:
    return call.fault;
  case Parameter::rule:
    return call.rule;
  case Parameter::counter:
    return call.counter;
  case Parameter::status:
    return call.status;
  case Parameter::percentile:
    return call.percentile;
  case Parameter::part:
    return call.part;
  case Parameter::stage:
    return call.stage;
  case Parameter::step:
    return call.step;
  case Parameter::condition:
    return call.condition;
  case Parameter::traffic:
    break;
  }
  return call.traffic;
}

} // namespace rdmalab::lab
