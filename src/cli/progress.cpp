#include "cli/progress.h"

#include <ostream>

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace rdmalab::cli {

ProgressLine::ProgressLine(Context& context, std::string lab)
    : context_(context), lab_(std::move(lab)), terminal_(::isatty(STDERR_FILENO) == 1)
{}

ProgressLine::~ProgressLine()
{
  finish();
}

void ProgressLine::clear()
{
  if (drawn_) context_.err << "\r\x1b[K";
  drawn_ = false;
}

void ProgressLine::finish()
{
  clear();
  context_.err.flush();
}

void ProgressLine::say(const std::string& text)
{
  if (context_.quiet) return;
  clear();
  context_.err << lab_ << ": " << text << std::endl;
}

/// Whether that was expected, the Result says.
static std::string how_it_ended(const record::Flow& flow)
{
  if (flow.outcome == "ok") return {};
  const std::string& name = flow.failure.empty() ? flow.failed_step : flow.failure;
  return fmt::format(" ({})", name.empty() ? "broken" : name);
}

void ProgressLine::cell_done(std::size_t done, std::size_t total, const record::Cell& cell)
{
  if (context_.quiet) return;
  std::string flows;
  for (const record::Flow& flow : cell.flows) {
    const double mbit = cell.window_ns == 0 ? 0
                                            : static_cast<double>(flow.bytes) * 8e3 /
                                                  static_cast<double>(cell.window_ns);
    // A program that tells no rate has no goodput of zero.
    if (flow.bytes != 0 || flow.output.empty()) flows += fmt::format("  {:.1f} Mb/s", mbit);
    flows += how_it_ended(flow);
  }
  if (!terminal_) {
    context_.err << fmt::format("{}: {}/{} {}{}", lab_, done, total, cell.id, flows) << std::endl;
    return;
  }
  constexpr std::size_t width = 30;
  const std::size_t full = total == 0 ? width : done * width / total;
  clear();
  context_.err << fmt::format("{} [{}{}] {}/{}  {}{}", lab_, std::string(full, '#'),
                              std::string(width - full, '.'), done, total, cell.id, flows)
               << std::flush;
  drawn_ = true;
}

} // namespace rdmalab::cli
