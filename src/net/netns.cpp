#include "net/netns.h"

#include "base/file.h"

#include <cerrno>
#include <exception>

#include <fcntl.h>
#include <sched.h>
#include <spdlog/spdlog.h>
#include <sys/mount.h>
#include <sys/stat.h>

namespace rdmalab::net {

namespace {

const std::string own_namespace = "/proc/thread-self/ns/net";

/// The folder must be a shared mount, or a name that is removed in one mount namespace keeps the
/// namespace alive in the others (ip-netns(8), ip/ipnetns.c does the same).
Status prepare_folder()
{
  const std::string& folder = netns_folder();
  const std::string what = "make " + folder + " a shared mount";
  if (::mkdir("/run", 0755) < 0 && errno != EEXIST) return system_error("create /run");
  if (::mkdir(folder.c_str(), 0755) < 0 && errno != EEXIST) return system_error("create " + folder);
  if (::mount("", folder.c_str(), "none", MS_SHARED | MS_REC, nullptr) == 0) return {};
  if (errno != EINVAL) return system_error(what);
  if (::mount(folder.c_str(), folder.c_str(), "none", MS_BIND | MS_REC, nullptr) < 0)
    return system_error("bind-mount " + folder + " on itself");
  if (::mount("", folder.c_str(), "none", MS_SHARED | MS_REC, nullptr) < 0)
    return system_error(what);
  return {};
}

Result<Fd> open_namespace(const std::string& path)
{
  return open_file(path, O_RDONLY | O_CLOEXEC);
}

} // namespace

const std::string& netns_folder()
{
  static const std::string folder = "/run/netns";
  return folder;
}

NetNamespace::NetNamespace(Fd fd, std::string name, bool owned)
    : fd_(std::move(fd)), name_(std::move(name)), owned_(owned)
{
  struct stat status {};
  if (::fstat(fd_.get(), &status) == 0) inode_ = status.st_ino;
}

NetNamespace::NetNamespace(NetNamespace&& other) noexcept
    : fd_(std::move(other.fd_)), name_(std::move(other.name_)),
      owned_(std::exchange(other.owned_, false)), inode_(other.inode_)
{}

NetNamespace& NetNamespace::operator=(NetNamespace&& other) noexcept
{
  if (this != &other) {
    (void)remove();
    fd_ = std::move(other.fd_);
    name_ = std::move(other.name_);
    owned_ = std::exchange(other.owned_, false);
    inode_ = other.inode_;
  }
  return *this;
}

NetNamespace::~NetNamespace()
{
  if (const Status status = remove(); !status) spdlog::warn("{}", status.error().message());
}

Status NetNamespace::remove()
{
  fd_.reset();
  if (!std::exchange(owned_, false) || name_.empty()) return {};
  const std::string path = netns_folder() + "/" + name_;
  if (::umount2(path.c_str(), MNT_DETACH) < 0 && errno != EINVAL && errno != ENOENT)
    return system_error("unmount " + path);
  if (::unlink(path.c_str()) < 0 && errno != ENOENT) return system_error("remove " + path);
  return {};
}

std::string NetNamespace::path() const
{
  return name_.empty() ? "/proc/self/fd/" + std::to_string(fd_.get())
                       : netns_folder() + "/" + name_;
}

Result<NetNamespace> NetNamespace::current()
{
  TRY_ASSIGN(Fd fd, open_namespace(own_namespace));
  return NetNamespace(std::move(fd), {}, false);
}

Result<NetNamespace> NetNamespace::open(const std::string& name)
{
  TRY_ASSIGN(Fd fd, open_namespace(netns_folder() + "/" + name));
  return NetNamespace(std::move(fd), name, false);
}

Result<NetNamespace> NetNamespace::anonymous()
{
  TRY_ASSIGN(const NetNamespace home, current());
  TRY_ASSIGN(const auto back, EnteredNamespace::enter(home.fd()));
  if (::unshare(CLONE_NEWNET) < 0)
    return system_error("create a network namespace", Exit::environment,
                        "it needs root (CAP_SYS_ADMIN)");
  TRY_ASSIGN(Fd fd, open_namespace(own_namespace));
  return NetNamespace(std::move(fd), {}, false);
}

Result<NetNamespace> NetNamespace::create(const std::string& name)
{
  if (name.empty() || name.find('/') != std::string::npos || name == "." || name == "..")
    return system_error(EINVAL, "create network namespace '" + name + "'");
  TRY(prepare_folder());
  const std::string path = netns_folder() + "/" + name;
  if (Fd file(::open(path.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0)); !file.valid())
    return system_error("create network namespace " + path, Exit::setup,
                        "`rdmalab gc` removes what a killed run left behind");
  NetNamespace named({}, name, true); // from here on the name goes away on every return
  TRY_ASSIGN(NetNamespace made, anonymous());
  const std::string source = "/proc/self/fd/" + std::to_string(made.fd());
  if (::mount(source.c_str(), path.c_str(), "none", MS_BIND, nullptr) < 0)
    return system_error("bind-mount the network namespace on " + path);
  named.fd_ = std::move(made.fd_);
  named.inode_ = made.inode_;
  return named;
}

Result<EnteredNamespace> EnteredNamespace::enter(int fd)
{
  TRY_ASSIGN(Fd back, open_namespace(own_namespace));
  if (::setns(fd, CLONE_NEWNET) < 0) return system_error("enter a network namespace");
  return EnteredNamespace(std::move(back));
}

EnteredNamespace::~EnteredNamespace()
{
  if (!back_.valid()) return; // moved from
  if (::setns(back_.get(), CLONE_NEWNET) < 0) {
    spdlog::error("{}", system_error("return to the thread's own network namespace").message());
    std::terminate();
  }
}

} // namespace rdmalab::net
