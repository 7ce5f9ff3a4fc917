#pragma once

#include "base/file.h"
#include "base/process.h"
#include "base/result.h"
#include "engine/channel.h"
#include "engine/machine.h"
#include "engine/qmp.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace rdmalab::engine {

/// A running QEMU with its channel, monitor and console. Killed when the object dies. Move-only.
class Guest {
public:
  struct Options {
    Accelerator accelerator = Accelerator::tcg;
    GuestFiles files;
    bool snapshot = false;          ///< the guest stops itself once it is ready
    std::filesystem::path incoming; ///< a snapshot to start from; empty: boot
  };

  /// Starts QEMU. A booting guest finds `request` when it has booted; a restored one goes on where
  /// it was, with it. An empty request: none yet.
  static Result<Guest> start(const Options& options, std::string_view request);

  [[nodiscard]] GuestState state() const { return channel_.state(); }
  /// QEMU's exit status once it has ended.
  std::optional<int> exited() { return process_.poll(); }
  /// See Channel.
  Status take_part() { return channel_.take_part(); }
  [[nodiscard]] Result<std::string> response() { return channel_.response(); }
  /// What the guest's kernel printed to its console: warnings, or a panic.
  [[nodiscard]] std::string console() const;
  /// CLOCK_MONOTONIC of the call of start().
  [[nodiscard]] std::uint64_t started_ns() const { return started_ns_; }

  /// Waits until the guest has stopped itself in state ready, then writes its state to a file.
  Status save(const std::filesystem::path& file, std::uint64_t timeout_ns);

private:
  Guest(TemporaryFolder folder, Channel channel, Qmp qmp, Process process);
  Status resume(std::uint64_t deadline_ns);

  TemporaryFolder folder_;
  Channel channel_;
  Qmp qmp_;
  Process process_; ///< last: dies first
  std::uint64_t started_ns_ = 0;
};

/// The Error for a guest that ended, or hangs, without a response: exit 7 with the console's last
/// lines.
Error guest_error(const std::string& attempted, const std::string& console);

} // namespace rdmalab::engine
