#include "base/process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rdmalab {
namespace {

int decode(int status)
{
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace

Result<Process> Process::start(const std::vector<std::string>& argv, const Options& options)
{
  std::vector<char*> arguments;
  arguments.reserve(argv.size() + 1);
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  // The child reports a failed exec through this pipe, which closes when the exec succeeds.
  std::array<int, 2> report{};
  if (::pipe2(report.data(), O_CLOEXEC) != 0) return system_error("create a pipe");
  Fd report_in(report[0]);
  Fd report_out(report[1]);

  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return system_error("fork for " + argv.front());
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    ::setpgid(0, 0);
    for (const int fd : options.keep) ::fcntl(fd, F_SETFD, 0);
    for (const std::string& variable : options.environment)
      ::putenv(const_cast<char*>(variable.c_str()));
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    ::dup2(null, 0);
    ::dup2(options.output >= 0 ? options.output : null, 1);
    ::dup2(options.output >= 0 ? options.output : null, 2);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execvp(arguments[0], arguments.data());
    const int number = errno;
    (void)!::write(report_out.get(), &number, sizeof number);
    ::_exit(127);
  }
  Process process(pid);
  report_out.reset();
  int number = 0;
  if (::read(report_in.get(), &number, sizeof number) == sizeof number) {
    process.wait();
    return system_error(number, "run " + argv.front(), Exit::environment);
  }
  return process;
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), status_(other.status_)
{}

Process& Process::operator=(Process&& other) noexcept
{
  if (this != &other) {
    kill();
    pid_ = std::exchange(other.pid_, -1);
    status_ = other.status_;
  }
  return *this;
}

Process::~Process()
{
  kill();
}

std::optional<int> Process::poll()
{
  int status = 0;
  if (!status_ && pid_ > 0 && ::waitpid(pid_, &status, WNOHANG) == pid_) status_ = decode(status);
  return status_;
}

int Process::wait()
{
  int status = 0;
  while (!status_ && pid_ > 0) {
    if (::waitpid(pid_, &status, 0) == pid_)
      status_ = decode(status);
    else if (errno != EINTR)
      status_ = 127;
  }
  return status_.value_or(127);
}

void Process::kill()
{
  if (pid_ <= 0 || status_) return;
  ::kill(pid_, SIGKILL);
  wait();
}

Result<ProgramOutput> run_program(const std::vector<std::string>& argv)
{
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("create a pipe");
  Fd in(ends[0]);
  Fd out(ends[1]);
  TRY_ASSIGN(Process process, Process::start(argv, {.keep = {}, .output = out.get()}));
  out.reset();
  ProgramOutput result;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t n = ::read(in.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    result.output.append(buffer.data(), static_cast<size_t>(n));
  }
  result.status = process.wait();
  return result;
}

} // namespace rdmalab
