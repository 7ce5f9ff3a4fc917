#include "engine/doctor.h"

#include "base/json.h"
#include "engine/image.h"
#include "engine/kernel.h"
#include "engine/machine.h"
#include "engine/vm_engine.h"
#include "measure/cpu.h"
#include "net/probe.h"

#include <filesystem>

#include <unistd.h>

namespace rdmalab::engine {

RDMALAB_JSON(Check, name, ok, found, remedy)
RDMALAB_JSON(Diagnosis, host_engine, vm_real, vm_virtual, choice, host, vm)

namespace {

Check good(std::string name, std::string found)
{
  return {std::move(name), true, std::move(found), {}};
}

Check bad(std::string name, const Error& error)
{
  return {std::move(name), false, error.message(), error.hint};
}

std::vector<Check> host_checks()
{
  std::vector<Check> checks;
  if (::geteuid() != 0) {
    checks.push_back({"root", false, "user " + std::to_string(::geteuid()),
                      "run as root, or leave it to the vm engine, which needs no rights"});
    return checks;
  }
  for (const net::Capability& c : net::probe_kernel())
    checks.push_back(
        {c.name + (c.required ? "" : " (wanted)"), c.ok, c.ok ? "works" : c.why, c.remedy});
  std::string why;
  const bool ledger = measure::cpu_ledger_supported(why);
  checks.push_back({"CPU ledger by eBPF", ledger, ledger ? "works" : why,
                    ledger ? "" : "a kernel with BTF (CONFIG_DEBUG_INFO_BTF) can do it"});
  return checks;
}

Check check_qemu()
{
  auto qemu = qemu_version();
  if (!qemu) return bad("QEMU", qemu.error());
  if (qemu->number < repeatable_qemu)
    return {"QEMU", false, qemu->text + ": its guests don't repeat on the virtual clock",
            "install QEMU 9 or newer; scripts/setup does"};
  return good("QEMU", qemu->text);
}

Check check_cache()
{
  const std::filesystem::path folder = cache_folder();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (::access(folder.c_str(), W_OK) == 0) return good("cache", folder.string());
  if (std::filesystem::exists(folder / "guest", error))
    return good("cache", folder.string() + ", read-only, with a guest in it");
  return {"cache", false, folder.string() + " can't be written",
          "set RDMALAB_CACHE to a folder that can be"};
}

std::vector<Check> vm_checks()
{
  std::vector<Check> checks{check_qemu()};
  auto kernel = find_kernel();
  checks.push_back(kernel ? good("guest kernel", kernel->release + " in " + kernel->root.string())
                          : bad("guest kernel", kernel.error()));
  if (kernel) {
    auto inputs = image_inputs(*kernel, {});
    checks.push_back(inputs
                         ? good("guest image", std::to_string(inputs->modules.size()) + " modules")
                         : bad("guest image", inputs.error()));
    const auto iwarp = image_inputs(*kernel, {{}, {}, true});
    checks.push_back(iwarp ? good("siw (wanted)", "for transport: iwarp")
                           : bad("siw (wanted)", iwarp.error()));
  }
  checks.push_back(check_cache());
  return checks;
}

bool all_ok(const std::vector<Check>& checks)
{
  for (const Check& check : checks)
    if (!check.ok && !check.name.ends_with("(wanted)")) return false;
  return true;
}

} // namespace

Diagnosis diagnose()
{
  Diagnosis d;
  d.host = host_checks();
  d.vm = vm_checks();
  d.host_engine = all_ok(d.host);
  d.vm_virtual = all_ok(d.vm);
  if (d.vm_virtual) {
    std::string why;
    d.vm_real = kvm_works(why);
    d.vm.push_back({"KVM (wanted)", d.vm_real, why,
                    d.vm_real ? "" : "not needed: the virtual clock works without it"});
  }
  d.choice = d.host_engine  ? "host engine, real clock"
             : d.vm_real    ? "vm engine, real clock"
             : d.vm_virtual ? "vm engine, virtual clock"
                            : "nothing: see above";
  return d;
}

} // namespace rdmalab::engine
