#include "traffic/child.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "traffic/json_socket.h"
#include "traffic/worker.h"

#include <csignal>
#include <exception>
#include <limits>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace rdmalab::traffic {

namespace {

constexpr std::uint64_t for_ever = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t report_patience_ns = 10'000'000'000;

/// The controller's handlers are not for us: Ctrl-C ends an endpoint, a closed socket is an errno.
void reset_signals()
{
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Dies with the controller, and keeps none of its descriptors: an inherited namespace, BPF link or
/// control socket of another endpoint would outlive its owner.
void detach(pid_t parent, int control)
{
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1); // it died before prctl
  if (control > 3) ::close_range(3, static_cast<unsigned>(control) - 1, 0);
  ::close_range(static_cast<unsigned>(control) + 1, ~0U, 0);
}

Status enter_namespace(const std::string& path)
{
  if (path.empty()) return {};
  TRY_ASSIGN(const Fd ns, open_file(path, O_RDONLY | O_CLOEXEC));
  if (::setns(ns.get(), CLONE_NEWNET) != 0)
    return system_error("enter network namespace " + path, Exit::environment, "run as root");
  // A mounted sysfs goes on showing the devices of the namespace it was mounted in, and libibverbs
  // finds RDMA devices there: this process gets a sysfs of its own, as `ip netns exec` does.
  if (::unshare(CLONE_NEWNS) != 0) return system_error("leave the common mount namespace");
  if (::mount("", "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0)
    return system_error("keep mounts from going back");
  if (::mount("sysfs", "/sys", "sysfs", 0, nullptr) != 0) return system_error("mount sysfs");
  return {};
}

/// Memory regions count against RLIMIT_MEMLOCK, whose default of 8 MiB is soon used up. Without the
/// right to raise it, as far as possible: ibv_reg_mr() then says whether that was enough.
void unlock_memory_limit()
{
  const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
  if (::setrlimit(RLIMIT_MEMLOCK, &unlimited) == 0) return;
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_MEMLOCK, &limit);
}

Result<std::unique_ptr<Worker>> make_worker(const EndpointSpec& spec, std::uint64_t deadline)
{
  switch (spec.traffic.kind) {
  case lab::TrafficKind::verbs:
    return make_verbs_worker(spec, deadline);
  case lab::TrafficKind::tcp:
    return make_tcp_worker(spec, deadline);
  case lab::TrafficKind::command:
    return make_command_worker(spec);
  }
  return Error{Exit::setup, "drive a traffic of an unknown kind", 0, {}, {}};
}

Status live(const EndpointSpec& spec, JsonSocket& control)
{
  TRY(enter_namespace(spec.netns_path));
  unlock_memory_limit();
  const std::uint64_t deadline = monotonic_ns() + spec.ready_timeout_ns;
  TRY_ASSIGN(const auto worker, make_worker(spec, deadline));
  TRY(control.send(Json{{"ready", worker->streams()}}, for_ever));
  TRY_ASSIGN(const Json order, control.receive(for_ever));
  if (!order.contains("schedule"))
    return Error{Exit::setup, "read the controller's schedule", 0, {}, {}};
  TRY_ASSIGN(const auto schedule, from_json_value<Schedule>(order["schedule"], "schedule"));
  TRY_ASSIGN(const record::Flow flow, worker->run(schedule));
  TRY(control.send(Json{{"report", flow}}, monotonic_ns() + report_patience_ns));
  // The kernel takes everything down with the process; destroying a broken QP in order could wait
  // for its timers.
  ::_exit(0);
}

} // namespace

void run_child(const EndpointSpec& spec, pid_t parent, Fd control)
{
  detach(parent, control.get());
  reset_signals();
  JsonSocket socket(std::move(control), "the controller");
  Status status;
  try {
    status = live(spec, socket);
  } catch (const std::exception& e) {
    status = Error{Exit::traffic, std::string("run the endpoint: ") + e.what(), 0, {}, {}};
  }
  if (!status) {
    const Error& error = status.error();
    const Json text{{"error",
                     {{"exit", static_cast<int>(error.exit)},
                      {"attempted", error.attempted},
                      {"errno", error.number},
                      {"hint", error.hint}}}};
    if (!socket.send(text, monotonic_ns() + report_patience_ns))
      ::_exit(2); // nobody listens any more
  }
  ::_exit(1);
}

} // namespace rdmalab::traffic
