#include "engine/vm_engine.h"

#include "base/clock.h"
#include "base/version.h"
#include "engine/message.h"
#include "engine/snapshot.h"
#include "lab/command_line.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

namespace rdmalab::engine {
namespace {

constexpr std::uint64_t look_every_ns = 2'000'000;
constexpr std::uint64_t default_timeout_ns = 600 * second_ns;
constexpr std::uint64_t kvm_timeout_ns = 10 * second_ns;

/// A guest at work on one cell.
struct Job {
  size_t cell = 0;
  Guest guest;
  std::uint64_t first_packet_ns = 0; ///< since QEMU's start; 0: not yet
};

Result<Job> start_job(const plan::Plan& plan, size_t cell, const Guest::Options& options)
{
  Request request{plan};
  request.plan.cells = {plan.cells[cell]};
  TRY_ASSIGN(Guest guest, Guest::start(options, encode(request)));
  return Job{cell, std::move(guest), 0};
}

/// The cell's record once the guest is done; nothing while it works; an Error if it never will be.
std::optional<Result<record::Cell>> look_at(Job& job, const std::string& id,
                                            std::uint64_t timeout_ns)
{
  const GuestState state = job.guest.state();
  if (job.first_packet_ns == 0 && state >= GuestState::traffic)
    job.first_packet_ns = monotonic_ns() - job.guest.started_ns();
  if (Status taken = job.guest.take_part(); !taken)
    return Result<record::Cell>(std::move(taken).error());
  if (state == GuestState::done) {
    auto text = job.guest.response();
    if (!text) return Result<record::Cell>(std::move(text).error());
    auto cell = decode_response(*text);
    if (!cell) cell.error().attempted = "cell " + id + ": " + cell.error().attempted;
    return cell;
  }
  if (job.guest.exited()) return guest_error("execute cell " + id, job.guest.console());
  if (monotonic_ns() - job.guest.started_ns() > timeout_ns)
    return Error{Exit::timeout,
                 "execute cell " + id + ": it took longer than the limit",
                 0,
                 "--timeout sets the limit",
                 {}};
  return std::nullopt;
}

/// What the plan's traffics run and read.
ImageExtras extras_of(const plan::Plan& plan)
{
  std::set<std::string> programs;
  std::set<std::string> files;
  for (const lab::Traffic& traffic : plan.lab.traffic) {
    for (const std::string& line : {traffic.command.client, traffic.command.server})
      if (const auto words = lab::command_words(line, {}); !words.empty())
        programs.insert(words.front());
    files.insert(traffic.command.files.begin(), traffic.command.files.end());
  }
  const bool iwarp = std::ranges::any_of(plan.lab.traffic, lab::over_iwarp);
  return {{programs.begin(), programs.end()}, {files.begin(), files.end()}, iwarp};
}

unsigned default_jobs(Accelerator accelerator)
{
  if (accelerator == Accelerator::kvm) return 1;
  return std::max(1U, std::thread::hardware_concurrency());
}

} // namespace

Result<record::Record> execute_in_guests(const plan::Plan& plan, const Options& options,
                                         Accelerator accelerator, const Progress& progress)
{
  const bool snapshot = options.snapshot && accelerator == Accelerator::tcg;
  TRY_ASSIGN(const GuestImage image, guest_image(snapshot, extras_of(plan), progress.say));
  Guest::Options guest_options;
  guest_options.accelerator = accelerator;
  guest_options.files = image.files;
  guest_options.snapshot = snapshot;
  guest_options.incoming = image.snapshot;

  record::Record record;
  record.lab = plan.lab;
  record.environment = {"vm",
                        accelerator == Accelerator::tcg ? "virtual" : "real",
                        accelerator == Accelerator::tcg ? "tcg" : "kvm",
                        image.kernel_release,
                        image.qemu,
                        version,
                        image.snapshot_digest,
                        snapshot ? "snapshot" : "boot"};
  record.cells.resize(plan.cells.size());

  const unsigned most = options.jobs != 0 ? options.jobs : default_jobs(accelerator);
  const std::uint64_t timeout = options.timeout_ns != 0 ? options.timeout_ns : default_timeout_ns;
  std::vector<Job> jobs;
  size_t next = 0;
  size_t done = 0;
  while (done < plan.cells.size()) {
    if (interrupted)
      return Error{Exit::interrupted, "run " + plan.lab.name + ": interrupted", 0, {}, {}};
    if (jobs.size() < most && next < plan.cells.size()) {
      TRY_ASSIGN(Job job, start_job(plan, next++, guest_options));
      jobs.push_back(std::move(job));
      continue;
    }
    sleep_until_ns(monotonic_ns() + look_every_ns);
    for (size_t i = 0; i < jobs.size();) {
      auto outcome = look_at(jobs[i], plan.cells[jobs[i].cell].id, timeout);
      if (!outcome) {
        ++i;
        continue;
      }
      if (!*outcome) return std::move(*outcome).error();
      const size_t cell = jobs[i].cell;
      record.timing.first_packet_seconds = std::max(
          record.timing.first_packet_seconds, static_cast<double>(jobs[i].first_packet_ns) / 1e9);
      record.cells[cell] = std::move(*outcome).value();
      jobs.erase(jobs.begin() + static_cast<std::ptrdiff_t>(i));
      progress.cell_done(++done, plan.cells.size(), record.cells[cell]);
    }
  }
  return record;
}

bool kvm_works(std::string& why)
{
  const Fd device(::open("/dev/kvm", O_RDWR | O_CLOEXEC));
  if (!device.valid()) {
    why = ::access("/dev/kvm", F_OK) == 0 ? "/dev/kvm can't be opened" : "there is no /dev/kvm";
    return false;
  }
  auto image = guest_image(false, {}, [](const std::string&) {});
  if (!image) {
    why = image.error().message();
    return false;
  }
  Guest::Options options;
  options.accelerator = Accelerator::kvm;
  options.files = image->files;
  auto guest = Guest::start(options, {});
  if (!guest) {
    why = guest.error().message();
    return false;
  }
  while (monotonic_ns() - guest->started_ns() < kvm_timeout_ns) {
    if (guest->state() >= GuestState::ready) {
      why = "a guest booted under it";
      return true;
    }
    if (guest->exited()) break;
    sleep_until_ns(monotonic_ns() + look_every_ns);
  }
  why = "/dev/kvm is there, but no guest boots under it";
  return false;
}

} // namespace rdmalab::engine
