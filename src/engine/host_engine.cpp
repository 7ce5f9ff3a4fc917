#include "engine/host_engine.h"

#include "base/version.h"
#include "engine/cell.h"
#include "engine/cell_trace.h"
#include "measure/cpu.h"
#include "net/gc.h"
#include "net/probe.h"

#include <sys/utsname.h>
#include <unistd.h>

namespace rdmalab::engine {

Result<record::Record> execute_on_host(const plan::Plan& plan, const Progress& progress)
{
  record::Record record;
  record.lab = plan.lab;
  utsname name{};
  ::uname(&name);
  record.environment = {"host", "real", "none", name.release, "", version, "", "none"};

  const std::string suffix = "-" + std::to_string(::getpid());
  std::vector<std::string> namespaces{plan.fabric.netns + suffix};
  for (const plan::HostNode& host : plan.fabric.hosts) namespaces.push_back(host.netns + suffix);
  TRY_ASSIGN(const net::RunOwner owner, net::RunOwner::claim("run" + suffix, namespaces));

  for (const plan::Cell& cell : plan.cells) {
    if (interrupted)
      return Error{Exit::interrupted, "run " + plan.lab.name + ": interrupted", 0, {}, {}};
    CellServices services;
    services.suffix = suffix;
    TRY_ASSIGN(CellRun run, CellRun::execute(plan, cell, std::move(services)));
    record.cells.push_back(run.record());
    TRY(finish_trace(record.cells.back()));
    TRY(run.teardown());
    progress.cell_done(record.cells.size(), plan.cells.size(), record.cells.back());
  }
  return record;
}

bool host_works(std::string& why)
{
  if (::geteuid() != 0) {
    why = "not root";
    return false;
  }
  const auto capabilities = net::probe_kernel();
  for (const net::Capability& capability : capabilities)
    if (capability.required && !capability.ok) {
      why = "this kernel lacks " + capability.name;
      return false;
    }
  if (!measure::cpu_ledger_supported(why)) return false;
  why = "this kernel can do all of it";
  return true;
}

} // namespace rdmalab::engine
