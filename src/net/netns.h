#pragma once

#include "base/fd.h"
#include "base/result.h"

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace rdmalab::net {

/// A network namespace. One that was created here is removed when the object dies; the kernel frees
/// it when the last process, socket and descriptor in it are gone. Move-only.
class NetNamespace {
public:
  /// Creates it under a name, bind-mounted in /run/netns as iproute2 does, so `ip netns` sees it.
  /// EEXIST if the name is taken; needs CAP_SYS_ADMIN.
  static Result<NetNamespace> create(const std::string& name);
  /// Creates one without a name: it lives as long as this object and what is inside.
  static Result<NetNamespace> anonymous();
  /// Opens an existing one by name; it stays when the object dies.
  static Result<NetNamespace> open(const std::string& name);
  /// The calling thread's own; it stays.
  static Result<NetNamespace> current();

  NetNamespace() = default;
  NetNamespace(NetNamespace&& other) noexcept;
  NetNamespace& operator=(NetNamespace&& other) noexcept;
  NetNamespace(const NetNamespace&) = delete;
  NetNamespace& operator=(const NetNamespace&) = delete;
  ~NetNamespace();

  /// Takes the name away and closes the descriptor. Nothing to do is success.
  Status remove();
  /// From now on the name stays when the object dies.
  void release() { owned_ = false; }

  [[nodiscard]] int fd() const { return fd_.get(); }
  /// Inode of its nsfs file: what /proc/PID/ns/net and bpf_get_netns_cookie's users name it by.
  [[nodiscard]] std::uint64_t inode() const { return inode_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// /run/netns/NAME, or /proc/self/fd/N of this process for one without a name.
  [[nodiscard]] std::string path() const;

private:
  NetNamespace(Fd fd, std::string name, bool owned);
  Fd fd_;
  std::string name_;
  bool owned_ = false;
  std::uint64_t inode_ = 0;
};

/// Where named namespaces are: /run/netns.
const std::string& netns_folder();

/// Keeps the calling thread in another namespace; brings it back when it dies.
class EnteredNamespace {
public:
  static Result<EnteredNamespace> enter(int fd);
  EnteredNamespace(EnteredNamespace&&) = default;
  EnteredNamespace& operator=(EnteredNamespace&&) = delete;
  EnteredNamespace(const EnteredNamespace&) = delete;
  EnteredNamespace& operator=(const EnteredNamespace&) = delete;
  /// Terminates the program if the way back is barred: a thread in the wrong namespace is worse.
  ~EnteredNamespace();

private:
  explicit EnteredNamespace(Fd back) : back_(std::move(back)) {}
  Fd back_;
};

/// Calls `fn` with the current thread inside the namespace; `fn` returns a Result or Status.
template <typename Fn> std::invoke_result_t<Fn> run_in(const NetNamespace& ns, Fn&& fn)
{
  TRY_ASSIGN(const auto inside, EnteredNamespace::enter(ns.fd()));
  return std::forward<Fn>(fn)();
}

} // namespace rdmalab::net
