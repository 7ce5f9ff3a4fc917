#include "engine/engine.h"

#include "base/clock.h"
#include "engine/host_engine.h"
#include "engine/machine.h"
#include "engine/vm_engine.h"

namespace rdmalab::engine {

std::atomic<bool> interrupted{false};

Result<Choice> choose(const Options& options)
{
  std::string host_why = "not asked for";
  const bool host_fits = options.engine != EngineKind::vm && options.clock != ClockKind::virtual_;
  if (host_fits && host_works(host_why)) return Choice{EngineKind::host, ClockKind::real, host_why};
  if (options.engine == EngineKind::host)
    return Error{Exit::environment,
                 "use the host engine: " + host_why,
                 0,
                 "leave out --engine host: a guest's kernel can do it",
                 {}};

  std::string kvm_why = "not asked for";
  if (options.clock != ClockKind::virtual_ && kvm_works(kvm_why))
    return Choice{EngineKind::vm, ClockKind::real, kvm_why};
  if (options.clock == ClockKind::real)
    return Error{Exit::environment,
                 "find a real clock: " + host_why + "; " + kvm_why,
                 0,
                 "--clock virtual always works",
                 {}};

  TRY_ASSIGN(const QemuVersion qemu, qemu_version());
  if (qemu.number < repeatable_qemu)
    return Error{Exit::environment,
                 "use QEMU " + qemu.text + " for the virtual clock: its guests don't repeat",
                 0,
                 "install QEMU 9 or newer; scripts/setup does",
                 {}};
  std::string why = "asked for";
  if (options.clock != ClockKind::virtual_)
    why = host_fits ? "host: " + host_why + "; kvm: " + kvm_why : "kvm: " + kvm_why;
  return Choice{EngineKind::vm, ClockKind::virtual_, why};
}

Result<record::Record> execute(const plan::Plan& plan, const Options& options,
                               const Progress& progress)
{
  const std::uint64_t begin = monotonic_ns();
  TRY_ASSIGN(const Choice choice, choose(options));
  const bool virtual_clock = choice.clock == ClockKind::virtual_;
  progress.say(std::string(choice.engine == EngineKind::host ? "host engine" : "vm engine") + ", " +
               (virtual_clock ? "virtual" : "real") + " clock (" + choice.why + ")");
  auto record =
      choice.engine == EngineKind::host
          ? execute_on_host(plan, progress)
          : execute_in_guests(plan, options, virtual_clock ? Accelerator::tcg : Accelerator::kvm,
                              progress);
  if (record) record->timing.wall_seconds = static_cast<double>(monotonic_ns() - begin) / 1e9;
  return record;
}

} // namespace rdmalab::engine
