#include "engine/guest.h"

#include "base/clock.h"
#include "base/json.h"
#include "engine/turns.h"

#include <array>
#include <ctime>

#include <fcntl.h>
#include <spdlog/fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

namespace rdmalab::engine {
namespace {

/// QEMU has no event for "the incoming state is complete" without a capability; its monitor is
/// asked instead.
constexpr std::uint64_t poll_ns = 2'000'000;
constexpr std::uint64_t monitor_timeout_ns = 120 * second_ns;

void pause_ns(std::uint64_t ns)
{
  sleep_until_ns(monotonic_ns() + ns);
}

} // namespace

Guest::Guest(TemporaryFolder folder, Channel channel, Qmp qmp, Process process)
    : folder_(std::move(folder)), channel_(std::move(channel)), qmp_(std::move(qmp)),
      process_(std::move(process))
{}

Result<Guest> Guest::start(const Options& options, std::string_view request)
{
  const std::uint64_t started = monotonic_ns();
  TRY_ASSIGN(TemporaryFolder folder, TemporaryFolder::create("rdmalab-guest-"));
  // For `gc`: whose folder this is.
  TRY(write_file(folder.path() / "owner", std::to_string(::getpid())));
  TRY_ASSIGN(Channel channel, Channel::create());
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return system_error("create QEMU's monitor socket");
  Fd ours(ends[0]);
  Fd theirs(ends[1]);

  std::vector<std::string> arguments =
      machine_arguments(options.accelerator, options.files, options.snapshot);
  const auto add = [&arguments](std::initializer_list<std::string> more) {
    arguments.insert(arguments.end(), more);
  };
  add({"-object", fmt::format("memory-backend-file,id=channel,share=on,mem-path=/dev/fd/{},size={}",
                              channel.fd(), Channel::region_bytes)});
  add({"-device", "ivshmem-plain,memdev=channel,master=on"});
  add({"-chardev", fmt::format("socket,id=monitor,fd={}", theirs.get()), "-mon",
       "chardev=monitor,mode=control"});
  add({"-serial", "file:" + (folder.path() / "console").string()});
  // A restored guest would announce its network cards five times, by a timer of the real clock;
  // while that is overdue, the vCPU gets no instructions until QEMU's main loop has run it (see
  // turns/turns.c). It has no cards.
  const bool restored = !options.incoming.empty();
  if (restored)
    add({"-incoming", "file:" + options.incoming.string(), "-global",
         "migration.announce-rounds=0"});

  TRY_ASSIGN(Fd log, open_file(folder.path() / "qemu.log", O_WRONLY | O_CREAT | O_APPEND));
  if (!restored && !request.empty()) TRY(channel.write_request(request));
  spdlog::trace("{}", fmt::join(arguments, " "));
  Process::Options process_options{{channel.fd(), theirs.get()}, log.get(), {}};
  Fd turns;
  if (options.accelerator == Accelerator::tcg) {
    TRY_ASSIGN(turns, turns_library());
    process_options.keep.push_back(turns.get());
    process_options.environment.push_back(fmt::format("LD_PRELOAD=/proc/self/fd/{}", turns.get()));
  }
  TRY_ASSIGN(Process process, Process::start(arguments, process_options));
  theirs.reset();

  Guest guest(std::move(folder), std::move(channel), Qmp(std::move(ours)), std::move(process));
  guest.started_ns_ = started;
  const auto begin = [&]() -> Status {
    TRY(guest.qmp_.handshake(started + monitor_timeout_ns));
    if (!restored) return {};
    // The incoming state overwrites the channel's memory, so the request is put there after it.
    for (;;) {
      TRY_ASSIGN(const Json status,
                 guest.qmp_.command("query-status", Json::object(), started + monitor_timeout_ns));
      if (status.value("status", std::string{}) != "inmigrate") break;
      pause_ns(poll_ns);
    }
    TRY(guest.channel_.write_request(request));
    return guest.resume(started + monitor_timeout_ns);
  };
  if (Status begun = begin(); !begun) {
    Error error = std::move(begun).error();
    guest.process_.kill();
    if (auto text = read_file(guest.folder_.path() / "qemu.log"); text && !text->empty())
      error.hint = "QEMU said: " + text->substr(0, 400);
    error.attempted = "start a guest: " + error.attempted;
    return error;
  }
  return guest;
}

Status Guest::resume(std::uint64_t deadline_ns)
{
  auto resumed = qmp_.command("cont", Json::object(), deadline_ns);
  if (!resumed) return std::move(resumed).error();
  return {};
}

std::string Guest::console() const
{
  auto text = read_file(folder_.path() / "console");
  return text ? std::move(text).value() : std::string{};
}

Status Guest::save(const std::filesystem::path& file, std::uint64_t timeout_ns)
{
  const std::uint64_t deadline = monotonic_ns() + timeout_ns;
  for (;;) {
    TRY_ASSIGN(const Json status, qmp_.command("query-status", Json::object(), deadline));
    if (!status.value("running", true) && state() == GuestState::ready) break;
    if (exited()) return guest_error("boot a guest for its snapshot", console());
    if (monotonic_ns() > deadline)
      return Error{
          Exit::timeout, "boot a guest for its snapshot: it never became ready", 0, {}, {}};
    pause_ns(10 * poll_ns);
  }
  auto started = qmp_.command("migrate", Json{{"uri", "file:" + file.string()}}, deadline);
  if (!started) return std::move(started).error();
  for (;;) {
    TRY_ASSIGN(const Json status, qmp_.command("query-migrate", Json::object(), deadline));
    const std::string state = status.value("status", std::string{});
    if (state == "completed") return {};
    if (state == "failed" || monotonic_ns() > deadline)
      return Error{Exit::environment,
                   "write the guest's snapshot: " + status.value("error-desc", state),
                   0,
                   "is there room in " + file.parent_path().string() + "?",
                   {}};
    pause_ns(poll_ns);
  }
}

Error guest_error(const std::string& attempted, const std::string& console)
{
  constexpr size_t most = 2000;
  Error error{Exit::guest, attempted, 0, {}, {}};
  error.attempted += ": the guest's kernel stopped";
  const std::string tail = console.size() > most ? console.substr(console.size() - most) : console;
  error.hint = tail.empty() ? "its console is empty" : "its console ends with:\n" + tail;
  return error;
}

} // namespace rdmalab::engine
