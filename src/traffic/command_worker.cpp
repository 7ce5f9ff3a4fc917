#include "base/clock.h"
#include "base/process.h"
#include "lab/command_line.h"
#include "lab/figure_unit.h"
#include "traffic/ending.h"
#include "traffic/printed_figure.h"
#include "traffic/worker.h"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace rdmalab::traffic {
namespace {

constexpr std::size_t most_output = 64 << 10;

std::vector<std::string> arguments(const std::string& line, const EndpointSpec& spec)
{
  auto words = lab::command_words(line, {spec.rdma_device, spec.local_ip, spec.peer_ip});
  // A guest has all commands in /usr/bin, wherever they came from.
  if (!words.empty() && ::access(words.front().c_str(), X_OK) != 0)
    words.front() = words.front().substr(words.front().rfind('/') + 1);
  return words;
}

/// A running program and what it has printed.
class Running {
public:
  static Result<Running> start(const std::vector<std::string>& words)
  {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("create a pipe");
    Fd in(ends[0]);
    const Fd out(ends[1]);
    TRY_ASSIGN(Process process,
               Process::start(words, {{}, out.get(), {"PATH=/usr/bin:/bin:/usr/sbin:/sbin"}}));
    return Running(std::move(process), std::move(in));
  }

  /// Reads until the program has closed its output, or until the deadline; then it is killed.
  bool finish(std::uint64_t deadline_ns)
  {
    for (;;) {
      const std::uint64_t now = monotonic_ns();
      if (now >= deadline_ns) {
        process_.kill();
        return false;
      }
      pollfd wait{output_.get(), POLLIN, 0};
      if (::poll(&wait, 1, static_cast<int>((deadline_ns - now) / 1'000'000 + 1)) <= 0) continue;
      std::array<char, 4096> chunk;
      const ssize_t n = ::read(output_.get(), chunk.data(), chunk.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      if (text_.size() < most_output)
        text_.append(chunk.data(), static_cast<std::size_t>(n));
      else
        all_kept_ = false;
    }
    status_ = process_.wait();
    return true;
  }

  [[nodiscard]] const std::string& text() const { return text_; }
  /// False if it printed more than is kept.
  [[nodiscard]] bool all_kept() const { return all_kept_; }
  [[nodiscard]] int status() const { return status_; }

private:
  Running(Process process, Fd output) : process_(std::move(process)), output_(std::move(output)) {}
  Process process_;
  Fd output_;
  std::string text_;
  bool all_kept_ = true;
  int status_ = 0;
};

class CommandWorker final : public Worker {
public:
  explicit CommandWorker(const EndpointSpec& spec) : spec_(spec) {}

  [[nodiscard]] std::vector<StreamId> streams() const override { return {}; }

  Result<record::Flow> run(const Schedule& schedule) override
  {
    record::Flow flow;
    flow.traffic = spec_.traffic.name;
    const std::uint64_t deadline = schedule.window_end_ns + drain_budget_ns(spec_.traffic);
    if (spec_.role == Role::target) {
      // Not before: the CPU ledger follows what is started after it was opened.
      const std::string& line = spec_.traffic.command.server;
      if (line.empty()) return flow;
      TRY_ASSIGN(Running server, Running::start(arguments(line, spec_)));
      // A server that serves on is ended; one that failed says so.
      if (server.finish(deadline) && server.status() != 0)
        end_with(flow, "exit", {}, "exited with " + std::to_string(server.status()));
      flow.output["server"] = server.text();
      return flow;
    }
    sleep_until_ns(schedule.start_ns);
    const std::uint64_t begin = monotonic_ns();
    TRY_ASSIGN(Running client, Running::start(arguments(spec_.traffic.command.client, spec_)));
    if (!client.finish(deadline))
      end_with(flow, "drain", {}, "did not end in time");
    else if (client.status() != 0)
      end_with(flow, "exit", {}, "exited with " + std::to_string(client.status()));
    flow.window_ns = monotonic_ns() - begin;
    flow.output["client"] = client.text();
    if (!spec_.traffic.command.figure.empty()) read_figure(client, flow);
    return flow;
  }

private:
  void read_figure(const Running& client, record::Flow& flow) const
  {
    if (client.all_kept()) flow.figure = printed_figure(client.text(), spec_.traffic.command);
    if (!client.all_kept())
      end_with(flow, "figure", {}, "printed too much to look for a figure in");
    else if (!flow.figure)
      end_with(flow, "figure", {}, "printed no figure");
    else if (lab::tells_goodput(spec_.traffic))
      flow.bytes = flow.total_bytes = static_cast<std::uint64_t>(
          static_cast<double>(*flow.figure) / 8e9 * static_cast<double>(flow.window_ns));
  }

  EndpointSpec spec_;
};

} // namespace

Result<std::unique_ptr<Worker>> make_command_worker(const EndpointSpec& spec)
{
  return std::unique_ptr<Worker>(std::make_unique<CommandWorker>(spec));
}

} // namespace rdmalab::traffic
