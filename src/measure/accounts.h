#pragma once

#include "base/result.h"
#include "measure/cpu.h"

#include <cstdint>
#include <optional>
#include <vector>

struct bpf_program;
struct cpu_ledger_hosts;

/// What the CPU ledger and the path ledger have in common: whom accounts belong to
/// (bpf/ledger_hosts.h), and programs that run on a CPU of one's choice.
namespace rdmalab::measure {

/// Whether a ledger can be kept in this kernel: BTF is there, and softirqs are not switched away
/// from.
Status ledger_possible(bool with_rxe);
/// Whether rdma_rxe is in, with BTF.
bool rxe_btf_readable();

/// The ends of bpf/ledger_hosts.h that user space fills in.
struct AccountMaps {
  cpu_ledger_hosts* hosts = nullptr;
  int processes = -1;
  int devices = -1;
};
Status enter_accounts(const std::vector<CpuHost>& hosts, bool with_rxe, const AccountMaps& maps);

/// Runs a raw_tp program on one CPU and returns its value; no value if the CPU is offline.
Result<std::optional<std::uint32_t>> run_on_cpu(const bpf_program* program, int cpu);

} // namespace rdmalab::measure
