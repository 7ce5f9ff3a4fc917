#include "engine/image.h"

#include "base/file.h"
#include "base/sha256.h"
#include "engine/cpio.h"
#include "engine/decompress.h"
#include "engine/elf.h"

#include <cstdlib>
#include <set>
#include <sstream>

#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rdmalab::engine {
namespace {

namespace fs = std::filesystem;

/// What a lab can need. Names that this kernel has built in, or doesn't have, are passed over;
/// a lab that needs a missing one fails at its own step, with that step's error.
const std::vector<std::string> wanted_modules{
    "rdma_rxe",     "ib_uverbs",  "rdma_ucm",    "veth",   "bridge",  "sch_netem", "ifb",
    "cls_matchall", "act_mirred", "sch_ingress", "sch_fq", "tcp_bbr", "tcp_dctcp"};

/// libibverbs opens the provider of a driver by dlopen from a folder beside its own library, so no
/// ELF header names it.
Result<fs::path> verbs_provider(const std::vector<Library>& libraries, const std::string& driver)
{
  for (const Library& library : libraries) {
    if (!library.soname.starts_with("libibverbs.so")) continue;
    std::error_code ignored;
    for (const auto& entry :
         fs::directory_iterator(library.path.parent_path() / "libibverbs", ignored))
      if (entry.path().filename().string().starts_with("lib" + driver + "-rdmav"))
        return entry.path();
  }
  return Error{Exit::environment,
               "find libibverbs' provider for " + driver,
               0,
               "install ibverbs-providers",
               {}};
}

/// The modules of a lab, in loading order. Debian's kernel has no siw.
Result<std::vector<std::string>> modules_for(const Kernel& kernel, bool iwarp)
{
  if (!iwarp) return module_order(kernel, wanted_modules);
  TRY_ASSIGN(const auto found, module_order(kernel, {"siw"}));
  if (found.empty())
    return Error{Exit::environment,
                 "find the module siw, which transport: iwarp needs, for kernel " + kernel.release,
                 0,
                 "scripts/build-siw builds it from the kernel's source package",
                 {}};
  std::vector<std::string> names = wanted_modules;
  names.emplace_back("siw");
  return module_order(kernel, names);
}

/// Where a file of this machine goes in the archive: below usr/, where its merged-/usr links lead.
std::string archive_path(const fs::path& path)
{
  const std::string text = path.string().substr(1);
  return text.starts_with("usr/") ? text : "usr/" + text;
}

Result<fs::path> find_program(const std::string& name)
{
  std::error_code ignored;
  if (name.find('/') != std::string::npos && fs::exists(name, ignored)) return fs::path(name);
  const char* list = std::getenv("PATH");
  std::istringstream folders(list != nullptr ? list : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((fs::path(folder) / name).c_str(), X_OK) == 0) return fs::path(folder) / name;
  return Error{Exit::environment,
               "find program " + name + ", which a traffic of kind command runs",
               0,
               "install the package that holds it",
               {}};
}

/// Files that a lab carries along lie side by side in the guest, so no two may have one name.
Result<std::vector<fs::path>> find_files(const std::vector<std::string>& files)
{
  std::vector<fs::path> found;
  std::set<fs::path> names;
  for (const std::string& file : files) {
    const fs::path path = fs::absolute(file);
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored))
      return usage_error("find file " + file + ", which a traffic of kind command reads",
                         "paths are relative to the folder that rdmalab runs in");
    if (!names.insert(path.filename()).second)
      return usage_error("carry " + file + " along: another file has its name",
                         "in the guest they lie in one folder, /files");
    found.push_back(path);
  }
  return found;
}

} // namespace

Result<ImageInputs> image_inputs(const Kernel& kernel, const ImageExtras& extras)
{
  ImageInputs inputs;
  inputs.kernel = kernel;
  std::error_code error;
  inputs.program = fs::read_symlink("/proc/self/exe", error);
  if (error) return system_error(error.value(), "find the running program", Exit::environment);
  TRY_ASSIGN(inputs.modules, modules_for(kernel, extras.iwarp));
  TRY_ASSIGN(const auto own, closure({inputs.program}));
  inputs.programs = {inputs.program};
  inputs.drivers = {"rxe"};
  if (extras.iwarp) inputs.drivers.emplace_back("siw");
  for (const std::string& driver : inputs.drivers) {
    TRY_ASSIGN(fs::path provider, verbs_provider(own, driver));
    inputs.programs.push_back(std::move(provider));
  }
  TRY_ASSIGN(inputs.files, find_files(extras.files));
  for (const std::string& command : extras.programs) {
    TRY_ASSIGN(fs::path path, find_program(command));
    inputs.commands.push_back(path);
    inputs.programs.push_back(std::move(path));
  }
  TRY_ASSIGN(inputs.libraries, closure(inputs.programs));
  return inputs;
}

Result<std::string> image_key(const ImageInputs& inputs)
{
  std::vector<fs::path> files = inputs.programs;
  for (const Library& library : inputs.libraries) files.push_back(library.path);
  files.insert(files.end(), inputs.files.begin(), inputs.files.end());
  files.push_back(inputs.kernel.image());
  for (const std::string& module : inputs.modules)
    files.push_back(inputs.kernel.modules() / module);

  std::string list = inputs.kernel.release + "\n";
  for (const fs::path& file : files) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) return system_error("look at " + file.string());
    list += fmt::format("{} {} {}.{}\n", file.string(), status.st_size, status.st_mtim.tv_sec,
                        status.st_mtim.tv_nsec);
  }
  return sha256(list);
}

Result<std::string> build_image(const ImageInputs& inputs)
{
  CpioArchive archive;
  // Debian's merged /usr: the interpreter's path goes through /lib64 or /lib.
  for (const char* folder : {"bin", "lib", "lib64", "sbin"})
    archive.add_symlink(folder, std::string("usr/") + folder);
  for (const char* folder : {"usr/bin", "usr/lib", "usr/lib64", "usr/sbin", "proc", "sys", "dev",
                             "tmp", "run", "etc/libibverbs.d"})
    archive.add_folder(folder);

  const auto add_program = [&archive](const std::string& path, const fs::path& from) -> Status {
    TRY_ASSIGN(std::string content, read_file(from));
    archive.add_file(path, loadable_part(std::move(content)), 0755);
    return {};
  };

  TRY(add_program("init", inputs.program));
  for (const Library& library : inputs.libraries) {
    // A soname goes where it was found; the interpreter where the programs name it.
    const fs::path place =
        library.soname.starts_with('/') ? fs::path(library.soname) : library.path;
    TRY(add_program(archive_path(place), library.path));
  }
  for (const fs::path& program : inputs.programs)
    if (program != inputs.program) TRY(add_program(archive_path(program), program));
  // A command may lie anywhere on this machine, also where the guest mounts something over it.
  for (const fs::path& command : inputs.commands)
    TRY(add_program("usr/bin/" + command.filename().string(), command));
  for (const fs::path& file : inputs.files) { // as they are, whatever they are
    TRY_ASSIGN(std::string content, read_file(file));
    archive.add_file("files/" + file.filename().string(), std::move(content));
  }
  for (const std::string& driver : inputs.drivers)
    archive.add_file("etc/libibverbs.d/" + driver + ".driver", "driver " + driver + "\n");

  std::string list;
  for (const std::string& module : inputs.modules) {
    const fs::path from = inputs.kernel.modules() / module;
    TRY_ASSIGN(const std::string packed, read_file(from));
    TRY_ASSIGN(std::string content, decompress(packed, from.string()));
    const std::string name = fs::path(module).filename().string();
    const std::string path = "modules/" + name.substr(0, name.find(".ko")) + ".ko";
    archive.add_file(path, std::move(content));
    list += "/" + path + "\n";
  }
  archive.add_file("modules.list", std::move(list));
  return archive.bytes();
}

} // namespace rdmalab::engine
