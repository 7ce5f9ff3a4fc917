#pragma once

#include "base/fd.h"
#include "base/result.h"

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace rdmalab {

/// A child process. It is killed and reaped when the object dies, and by the kernel when this
/// process does.
class Process {
public:
  struct Options {
    std::vector<int> keep; ///< descriptors that the program inherits, under their numbers
    int output = -1;       ///< becomes its stdout and stderr; -1: /dev/null
    std::vector<std::string> environment = {}; ///< "NAME=value", added to ours
  };
  /// Starts argv[0] (searched in PATH) in a process group of its own, so a terminal's Ctrl-C
  /// doesn't reach it.
  static Result<Process> start(const std::vector<std::string>& argv, const Options& options);

  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// The exit status (128 + signal if it was killed) once it has ended; doesn't wait.
  std::optional<int> poll();
  /// Waits for its end.
  int wait();
  /// SIGKILL, then reaps.
  void kill();

private:
  explicit Process(pid_t pid) : pid_(pid) {}
  pid_t pid_ = -1;
  std::optional<int> status_;
};

struct ProgramOutput {
  int status = 0;
  std::string output; ///< stdout and stderr
};
/// Runs a program to its end and collects what it prints. An Error only if it can't be started.
Result<ProgramOutput> run_program(const std::vector<std::string>& argv);

} // namespace rdmalab
