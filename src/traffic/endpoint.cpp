#include "traffic/endpoint.h"

#include "base/clock.h"
#include "base/json.h"
#include "traffic/child.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rdmalab::traffic {

RDMALAB_JSON(StreamId, qp_number, first_psn, port)
RDMALAB_JSON(Schedule, start_ns, window_begin_ns, window_end_ns)

namespace {

constexpr std::uint64_t order_patience_ns = 5'000'000'000;

const char* name_of(Role role)
{
  return role == Role::initiator ? "initiator" : "target";
}

std::string name_of(const EndpointSpec& spec)
{
  return spec.traffic.name + "'s " + name_of(spec.role);
}

/// Why a process that closed its control socket did so.
Error obituary(const EndpointSpec& spec, pid_t pid, const std::string& what)
{
  siginfo_t info{};
  std::string how = "it ended";
  if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) == 0) {
    how = info.si_code == CLD_EXITED ? "it exited with status " + std::to_string(info.si_status)
                                     : "it was killed by signal " + std::to_string(info.si_status);
  }
  return {Exit::traffic, what + " of " + name_of(spec) + ": " + how, 0, {}, {}};
}

/// An error message of the child as the Error that it had.
Error error_of(const EndpointSpec& spec, const Json& error)
{
  return {static_cast<Exit>(error.value("exit", static_cast<int>(Exit::traffic))),
          name_of(spec) + ": " + error.value("attempted", std::string("unknown")),
          error.value("errno", 0),
          error.value("hint", std::string()),
          {}};
}

} // namespace

Endpoint::Endpoint(EndpointSpec spec, pid_t pid, JsonSocket control)
    : spec_(std::move(spec)), pid_(pid), control_(std::move(control))
{}

Endpoint::Endpoint(Endpoint&& other) noexcept
    : spec_(std::move(other.spec_)), pid_(std::exchange(other.pid_, -1)),
      control_(std::move(other.control_)), streams_(std::move(other.streams_))
{}

Endpoint& Endpoint::operator=(Endpoint&& other) noexcept
{
  std::swap(spec_, other.spec_);
  std::swap(pid_, other.pid_);
  std::swap(control_, other.control_);
  std::swap(streams_, other.streams_);
  return *this;
}

Endpoint::~Endpoint()
{
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<Endpoint> Endpoint::spawn(const EndpointSpec& spec)
{
  int pair[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return system_error("make a control socket for " + name_of(spec));
  Fd ours(pair[0]);
  Fd theirs(pair[1]);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return system_error("fork " + name_of(spec));
  if (pid == 0) run_child(spec, parent, std::move(theirs));
  return Endpoint(spec, pid, JsonSocket(std::move(ours), name_of(spec)));
}

Status Endpoint::wait_ready(std::uint64_t timeout_ns)
{
  TRY_ASSIGN(const Json message, receive("wait for the connection", timeout_ns));
  if (!message.contains("ready"))
    return Error{Exit::traffic, name_of(spec_) + ": reported before it was ready", 0, {}, {}};
  TRY_ASSIGN(streams_, from_json_value<std::vector<StreamId>>(message["ready"],
                                                              "streams of " + name_of(spec_)));
  return {};
}

Status Endpoint::start(const Schedule& schedule)
{
  return control_.send(Json{{"schedule", schedule}}, monotonic_ns() + order_patience_ns);
}

Result<record::Flow> Endpoint::report(std::uint64_t timeout_ns)
{
  TRY_ASSIGN(const Json message, receive("wait for the report", timeout_ns));
  if (!message.contains("report"))
    return Error{
        Exit::traffic, name_of(spec_) + ": sent something else than its report", 0, {}, {}};
  return from_json_value<record::Flow>(message["report"], "report of " + name_of(spec_));
}

Result<Json> Endpoint::receive(const std::string& what, std::uint64_t timeout_ns)
{
  auto message = control_.receive(monotonic_ns() + timeout_ns);
  if (!message) {
    if (message.error().exit == Exit::timeout)
      return Error{Exit::timeout, what + " of " + name_of(spec_) + ": time is up", 0, {}, {}};
    return obituary(spec_, pid_, what);
  }
  if (message->contains("error")) return error_of(spec_, (*message)["error"]);
  return message;
}

} // namespace rdmalab::traffic
