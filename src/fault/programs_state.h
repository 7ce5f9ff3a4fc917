#pragma once

#include "base/fd.h"
#include "fault.h"
#include "fault.skel.h"
#include "fault/attachment.h"
#include "fault/hold.h"
#include "fault/programs.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

namespace rdmalab::fault {

/// How many packets a trace has room for.
std::uint64_t trace_records(const Options& options);

struct Programs::State {
  struct Destroy {
    void operator()(fault_bpf* which) const { fault_bpf__destroy(which); }
  };

  Options options;
  std::unique_ptr<fault_bpf, Destroy> skeleton;
  std::vector<Port> ports;
  std::vector<Rule> rules;
  std::vector<fault_rule> compiled;
  std::vector<FlowKey> flows;
  std::shared_ptr<Fd> fabric; ///< its namespace
  std::optional<Hold> hold;
  Hold::Queue hold_queue = Hold::Queue::fq;
  std::vector<Attachment> attachments; ///< go before the hold device does

  [[nodiscard]] const bpf_program* program(Program which) const;
  [[nodiscard]] Way way() const { return options.tcx ? Way::best : Way::clsact; }
  Status attach(const Port& port);
  Status make_hold();
  Status clear_books();
};

} // namespace rdmalab::fault
