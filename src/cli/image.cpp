#include "cli/command.h"
#include "cli/progress.h"
#include "engine/snapshot.h"

#include <ostream>

#include <CLI/CLI.hpp>

namespace rdmalab::cli {
namespace {

Result<Exit> image(Context& context)
{
  ProgressLine line(context, "image");
  TRY_ASSIGN(const engine::GuestImage made,
             engine::guest_image(true, {}, [&line](const std::string& text) { line.say(text); }));
  context.out << "kernel " << made.kernel_release << ", QEMU " << made.qemu << ", snapshot "
              << made.snapshot.string() << " (" << made.snapshot_digest << ")\n";
  return Exit::ok;
}

} // namespace

void add_image(CLI::App& app, Context& context)
{
  app.add_subcommand("image", "Make the guest's image and snapshot now, for a container or a class")
      ->callback([&context] { context.action = [&context] { return image(context); }; });
}

} // namespace rdmalab::cli
