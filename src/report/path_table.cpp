#include "report/path_table.h"

#include "analysis/words.h"
#include "report/grid.h"
#include "report/text.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::report {
namespace {

using analysis::CostFit;
using analysis::HostPath;
using analysis::PathReport;
using analysis::TrafficPath;

std::string figure(double value)
{
  if (value > 0 && value < 0.01) return "<0.01";
  return value == 0 ? "none" : analysis::three_digits(value);
}

std::string share(const HostPath& host, const std::string& stage)
{
  const auto found = host.stage_percent.find(stage);
  if (found == host.stage_percent.end()) return "?";
  return found->second == 0 ? "none" : fmt::format("{:.1f}", found->second);
}

PathGrid shares(const PathReport& report)
{
  PathGrid grid;
  grid.heading = {"PATH, % CPU", "host", "app",    "syscall", "copy",    "ICRC",
                  "stack",       "rxe",  "device", "softirq", "wake-up", "sched"};
  for (const TrafficPath& t : report.traffic) {
    std::string name = t.traffic;
    for (const HostPath& h : t.hosts) {
      std::vector<std::string> row{std::exchange(name, ""), h.host};
      for (const std::string& stage : analysis::stage_names()) row.push_back(share(h, stage));
      grid.rows.push_back(std::move(row));
    }
  }
  return grid;
}

PathGrid counts(const PathReport& report)
{
  PathGrid grid;
  grid.heading = {"A MESSAGE", "host",     "CPU",      "syscalls", "copies", "copied",
                  "ICRCs",     "wake-ups", "switches", "softirqs", "packets"};
  for (const TrafficPath& t : report.traffic) {
    std::string name = t.traffic;
    for (const HostPath& h : t.hosts)
      grid.rows.push_back({std::exchange(name, ""), h.host, analysis::time_words(h.cpu_ns),
                           figure(h.syscalls_all), figure(h.copies), figure(h.copied),
                           figure(h.checksums), figure(h.wakeups), figure(h.switches),
                           figure(h.softirqs), figure(h.packets_in + h.packets_out)});
  }
  return grid;
}

PathGrid fits(const PathReport& report)
{
  PathGrid grid;
  grid.heading = {"COST, fitted over sizes", "host", "a message", "error", "a KiB", "error", "R²"};
  for (const CostFit& f : report.fits)
    grid.rows.push_back({fmt::format("{} ({} sizes)", f.transport, f.traffics.size()), f.host,
                         analysis::time_words(f.message_ns), analysis::time_words(f.message_error),
                         analysis::time_words(1024 * f.byte_ns),
                         analysis::time_words(1024 * f.byte_error), fmt::format("{:.4f}", f.r2)});
  return grid;
}

PathGrid wires(const PathReport& report)
{
  PathGrid grid;
  grid.heading = {
      "WIRE, from port to port", "to", "frame", "fastest", "by the lab", "mean", "timed"};
  for (const TrafficPath& t : report.traffic)
    if (t.wire)
      grid.rows.push_back(
          {t.traffic, t.wire->to, fmt::format("{:.0f} B", t.wire->frame_bytes),
           analysis::time_words(t.wire->min_ns), analysis::time_words(t.wire->expected_ns),
           analysis::time_words(t.wire->mean_ns), analysis::count_words(t.wire->frames)});
  return grid;
}

bool is_rdma(const TrafficPath& t)
{
  return t.transport.starts_with("rdma");
}

/// Of the steps that every message of the ordinary path takes, those that this host's did not.
std::vector<std::string> bypassed(const HostPath& h)
{
  std::vector<std::string> none;
  if (h.syscalls_all == 0) none.emplace_back("system calls");
  if (h.copies == 0) none.emplace_back("copies of payload");
  if (h.wakeups == 0) none.emplace_back("wake-ups");
  if (h.softirqs == 0) none.emplace_back("softirqs");
  return none;
}

double percent_of(const HostPath& h, const std::string& stage)
{
  const auto found = h.stage_percent.find(stage);
  return found == h.stage_percent.end() ? 0 : found->second;
}

std::string software(const TrafficPath& t, const HostPath& h)
{
  std::string text = fmt::format(
      "{} at {}: rxe does in software what an RDMA adapter does itself: its own work {:.0f} %, the "
      "copy {:.0f} %, the ICRC {:.0f} % and the stack {:.0f} % of this host's CPU",
      t.traffic, h.host, percent_of(h, "rxe"), percent_of(h, "copy"), percent_of(h, "checksum"),
      percent_of(h, "stack") + percent_of(h, "device") + percent_of(h, "softirq"));
  if (const auto doorbell = h.syscalls.find("write"); doorbell != h.syscalls.end())
    text += fmt::format("; its doorbell is a system call, write(), {} for each message, where an "
                        "adapter's is a store to mapped memory",
                        analysis::three_digits(doorbell->second));
  return text + ".";
}

/// Changes from one figure to another, for example "-2 to 13 % (tcp at client)".
class Changes {
public:
  void add(double from, double to, const std::string& what)
  {
    if (from <= 0) return;
    const double percent = std::round(100 * (to / from - 1)) + 0.0; // no -0
    least_ = std::min(least_, percent);
    most_ = std::max(most_, percent);
    if (std::abs(percent) > std::abs(greatest_)) {
      greatest_ = percent;
      where_ = what;
    }
  }
  [[nodiscard]] std::string words() const
  {
    if (where_.empty()) return "0 %";
    const std::string range =
        least_ == most_ ? fmt::format("{} %", most_) : fmt::format("{} to {} %", least_, most_);
    return fmt::format("{} ({})", range, where_);
  }

private:
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
  double greatest_ = 0;
  std::string where_; ///< of the greatest
};

std::string cost_of_tracing(const PathReport& report)
{
  Changes cpu;
  Changes goodput;
  double off = 0;
  for (const TrafficPath& t : report.traffic) {
    goodput.add(t.goodput_bps, t.traced_goodput_bps, t.traffic);
    for (const HostPath& h : t.hosts) {
      cpu.add(h.cpu_ns, h.traced_ns, fmt::format("{} at {}", t.traffic, h.host));
      if (h.against_scheduler) off = std::max(off, std::abs(*h.against_scheduler - 1));
    }
  }
  return fmt::format(
      "The stages and counts come from cells of their own, so that no goodput and no "
      "CPU time has the path ledger's cost in it. There it adds {} to a message's "
      "CPU time and {} to goodput. The endpoints' time agrees with the scheduler's "
      "to {:.1f} %.",
      cpu.words(), goodput.words(), 100 * off);
}

} // namespace

std::vector<PathGrid> path_grids(const PathReport& report)
{
  std::vector<PathGrid> grids{shares(report), counts(report), fits(report), wires(report)};
  std::erase_if(grids, [](const PathGrid& grid) { return grid.rows.empty(); });
  return grids;
}

std::vector<std::string> path_sentences(const PathReport& report)
{
  std::vector<std::string> sentences;
  std::vector<std::string> told; // once for each transport and host: sizes change little of it
  std::vector<const TrafficPath*> largest;
  for (const TrafficPath& t : report.traffic) largest.push_back(&t);
  std::ranges::stable_sort(largest, [](const TrafficPath* a, const TrafficPath* b) {
    return a->message_bytes > b->message_bytes;
  });
  for (const TrafficPath* one : largest)
    for (const HostPath& h : one->hosts) {
      const TrafficPath& t = *one;
      const std::string key = t.transport + "/" + h.host;
      if (std::find(told.begin(), told.end(), key) != told.end()) continue;
      told.push_back(key);
      if (const auto none = bypassed(h); !none.empty())
        sentences.push_back(fmt::format("{} at {}: bypassed, none seen: {}.", t.traffic, h.host,
                                        fmt::join(none, ", ")));
      if (is_rdma(t)) sentences.push_back(software(t, h));
    }
  if (!report.traffic.empty()) sentences.push_back(cost_of_tracing(report));
  if (const auto [few, many] =
          std::ranges::minmax_element(report.traffic, {}, &TrafficPath::interrupts);
      few != report.traffic.end())
    sentences.push_back(fmt::format("Hard interrupts, of the whole machine: {} a message of {} to "
                                    "{} of {}. They are timers'; a "
                                    "veth has none, and its softirqs stand for them.",
                                    figure(few->interrupts), few->traffic, figure(many->interrupts),
                                    many->traffic));
  if (!report.missing.empty())
    sentences.push_back(fmt::format("Not seen, since this kernel would not let us trace it: {}.",
                                    fmt::join(report.missing, ", ")));
  return sentences;
}

std::string path_table(const PathReport& report, const Style& style)
{
  std::string out;
  for (const PathGrid& from : path_grids(report)) {
    std::vector<Grid::Column> columns;
    for (std::size_t i = 0; i < from.heading.size(); ++i)
      columns.push_back({from.heading[i], i >= from.words});
    Grid grid(std::move(columns));
    for (const auto& cells : from.rows) grid.add({cells.begin(), cells.end()});
    out += "\n" + grid.text(style);
  }
  out += "\n";
  for (const std::string& sentence : path_sentences(report)) {
    std::string head = "- ";
    for (const std::string& part :
         wrap(style.utf8 ? sentence : to_ascii(sentence), style.width - 2))
      out += std::exchange(head, "  ") + part + "\n";
  }
  return out;
}

} // namespace rdmalab::report
