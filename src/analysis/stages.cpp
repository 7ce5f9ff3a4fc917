#include "analysis/stages.h"

#include "analysis/samples.h"
#include "analysis/statistics.h"
#include "base/json.h"
#include "lab/functions.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::analysis {

RDMALAB_JSON(HostPath, host, cpu_ns, traced_ns, stage_ns, stage_percent, syscalls, syscalls_all,
             copies, copied, checksums, wakeups, switches, softirqs, packets_in, packets_out,
             against_scheduler)
RDMALAB_JSON(WireTime, to, frames, frame_bytes, min_ns, mean_ns, expected_ns)
RDMALAB_JSON(TrafficPath, traffic, transport, message_bytes, messages, goodput_bps,
             traced_goodput_bps, hosts, interrupts, wire)
RDMALAB_JSON(CostFit, traffics, transport, host, message_ns, message_error, byte_ns, byte_error, r2)
RDMALAB_JSON(PathReport, traffic, fits, missing)

namespace {

double short_of(double value)
{
  return rounded(value).value_or(0);
}

std::uint64_t total(const std::map<std::string, std::uint64_t>& counts)
{
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& entry) { return sum + entry.second; });
}

void add(std::map<std::string, std::uint64_t>& to, const std::map<std::string, std::uint64_t>& from)
{
  for (const auto& [name, count] : from) to[name] += count;
}

/// The same host in another repeat.
void add(record::PathHost& to, const record::PathHost& from)
{
  add(to.stage_ns, from.stage_ns);
  add(to.syscalls, from.syscalls);
  for (const auto field :
       {&record::PathHost::borders, &record::PathHost::wakeups, &record::PathHost::switches,
        &record::PathHost::work_items, &record::PathHost::softirqs, &record::PathHost::packets_in,
        &record::PathHost::packets_out, &record::PathHost::copies_in, &record::PathHost::copied_in,
        &record::PathHost::copies_out, &record::PathHost::copied_out, &record::PathHost::checksums,
        &record::PathHost::task_ns, &record::PathHost::stolen_ns, &record::PathHost::waited_ns})
    to.*field += from.*field;
}

std::string transport_of(const lab::Traffic& traffic)
{
  if (traffic.kind == lab::TrafficKind::tcp) return "tcp";
  return "rdma " + Json(traffic.verbs.op).get<std::string>();
}

/// The book's time of a host's endpoints, as the scheduler counts it, over the scheduler's own.
std::optional<double> against_scheduler(const record::Cpu& cpu, const record::PathHost& host)
{
  constexpr std::uint64_t too_short = 1'000'000; // one border more or less would show
  if (host.task_ns < too_short) return std::nullopt;
  return static_cast<double>(cpu.app_user_ns + cpu.app_system_ns + host.stolen_ns +
                             host.waited_ns) /
         static_cast<double>(host.task_ns);
}

HostPath host_path(const record::PathHost& sum, const record::Cpu& cpu, double messages,
                   double payload)
{
  HostPath path;
  path.host = sum.host;
  const auto each = [&](std::uint64_t count) {
    return short_of(static_cast<double>(count) / messages);
  };
  const auto all = static_cast<double>(total(sum.stage_ns));
  path.traced_ns = short_of(all / messages);
  for (const auto& [stage, ns] : sum.stage_ns) {
    path.stage_ns[stage] = each(ns);
    path.stage_percent[stage] = all > 0 ? short_of(100 * static_cast<double>(ns) / all) : 0;
  }
  for (const auto& [name, calls] : sum.syscalls) path.syscalls[name] = each(calls);
  path.syscalls_all = each(total(sum.syscalls));
  path.copies = each(sum.copies_in + sum.copies_out);
  path.copied = short_of(static_cast<double>(sum.copied_in + sum.copied_out) / payload);
  path.checksums = each(sum.checksums);
  path.wakeups = each(sum.wakeups);
  path.switches = each(sum.switches);
  path.softirqs = each(sum.softirqs);
  path.packets_in = each(sum.packets_in);
  path.packets_out = each(sum.packets_out);
  if (const auto agreement = against_scheduler(cpu, sum))
    path.against_scheduler = short_of(*agreement);
  return path;
}

/// Of the sizes of frame that arrived at the payload's sink the one with most bytes: that is data,
/// not acknowledgements. Nothing where the class holds frames of very different sizes, or where no
/// frame found the way free: its fastest is then not the time of such a frame.
std::optional<WireTime> wire_time(const record::Record& record, const lab::Traffic& traffic,
                                  const std::vector<Sample>& samples)
{
  const std::string& sink = lab::data_sink(traffic);
  std::map<std::uint64_t, record::PathWire> sizes; // by class of 512 B
  for (const Sample& s : samples)
    for (const record::PathWire& w : s.cell->path->wire) {
      if (w.to != sink || w.frames == 0) continue;
      record::PathWire& sum = sizes[w.bytes / w.frames / 512];
      sum.min_ns = sum.frames == 0 ? w.min_ns : std::min(sum.min_ns, w.min_ns);
      sum.frames += w.frames;
      sum.bytes += w.bytes;
      sum.ns += w.ns;
    }
  if (sizes.empty()) return std::nullopt;
  const record::PathWire& most =
      std::max_element(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) {
        return a.second.bytes < b.second.bytes;
      })->second;
  WireTime wire;
  wire.to = sink;
  wire.frames = most.frames;
  const auto frames = static_cast<double>(most.frames);
  wire.frame_bytes = short_of(static_cast<double>(most.bytes) / frames);
  wire.min_ns = static_cast<double>(most.min_ns);
  wire.mean_ns = short_of(static_cast<double>(most.ns) / frames);
  const lab::Host* host = lab::find_host(record.lab, sink);
  if (host != nullptr) {
    const auto on_link = [&](const lab::LinkShape& shape) {
      return static_cast<double>(shape.delay_ns) +
             (shape.rate_bps != 0 ? wire.frame_bytes * 8e9 / static_cast<double>(shape.rate_bps)
                                  : 0);
    };
    wire.expected_ns = on_link(host->down);
    if (const lab::Host* from = lab::find_host(record.lab, lab::data_source(traffic));
        from != nullptr && from->up)
      wire.expected_ns += on_link(*from->up);
    wire.expected_ns = short_of(wire.expected_ns);
  }
  constexpr double most_off = 0.15;
  constexpr double software_ns = 10'000; // of the bridge and the qdisc
  const double off = std::abs(wire.min_ns - wire.expected_ns);
  if (host != nullptr && host->down.rate_bps != 0 &&
      off > std::max(most_off * wire.expected_ns, software_ns))
    return std::nullopt;
  return wire;
}

/// The traffic's samples in which it ran by itself.
std::vector<Sample> alone(const record::Record& record, const lab::Traffic& traffic,
                          std::string_view condition)
{
  std::vector<Sample> samples = samples_of(record, traffic.name, condition);
  std::erase_if(samples, [](const Sample& s) { return s.cell->traffic.size() != 1; });
  return samples;
}

/// What the samples' windows hold together.
struct Windows {
  std::uint64_t payload = 0;
  std::map<std::string, record::Cpu> cpu; ///< by host

  explicit Windows(const std::vector<Sample>& samples)
  {
    for (const Sample& s : samples) {
      payload += s.flow->bytes;
      for (const record::Cpu& c : s.cell->cpu) cpu[c.host] += c;
    }
  }
  /// A message that the window's border cut counts by the part of its bytes that arrived.
  [[nodiscard]] double messages(const lab::Traffic& traffic) const
  {
    return static_cast<double>(payload) / static_cast<double>(traffic.message_bytes);
  }
};

std::optional<TrafficPath> traffic_path(const record::Record& record, const lab::Traffic& traffic)
{
  std::vector<Sample> samples = alone(record, traffic, with_path);
  std::erase_if(samples, [](const Sample& s) { return !s.cell->path; });
  const std::vector<Sample> plain_samples = alone(record, traffic, baseline);
  Windows traced(samples);
  Windows plain(plain_samples);
  if (traced.payload == 0 || plain.payload == 0 || traffic.message_bytes == 0) return std::nullopt;

  TrafficPath path;
  path.traffic = traffic.name;
  path.transport = transport_of(traffic);
  path.message_bytes = traffic.message_bytes;
  path.goodput_bps = short_of(mean(goodputs(plain_samples)));
  path.traced_goodput_bps = short_of(mean(goodputs(samples)));
  const double messages = traced.messages(traffic);
  path.messages = static_cast<std::uint64_t>(std::llround(messages));
  std::vector<record::PathHost> hosts;
  for (const Sample& s : samples) {
    path.interrupts += static_cast<double>(s.cell->path->interrupts);
    for (const record::PathHost& host : s.cell->path->hosts) {
      const auto same = std::find_if(hosts.begin(), hosts.end(), [&](const record::PathHost& h) {
        return h.host == host.host;
      });
      if (same == hosts.end())
        hosts.push_back(host);
      else
        add(*same, host);
    }
  }
  path.interrupts = short_of(path.interrupts / messages);
  for (const record::PathHost& host : hosts)
    if (host.host == traffic.from || host.host == traffic.to) {
      path.hosts.push_back(
          host_path(host, traced.cpu[host.host], messages, static_cast<double>(traced.payload)));
      path.hosts.back().cpu_ns =
          short_of(static_cast<double>(plain.cpu[host.host].all_ns()) / plain.messages(traffic));
    }
  path.wire = wire_time(record, traffic, samples);
  return path;
}

/// All that has to be equal in traffics whose sizes are compared.
std::string series_of(const lab::Traffic& traffic)
{
  lab::Traffic same = traffic;
  same.name.clear();
  same.message_bytes = 0;
  return Json(same).dump();
}

std::vector<CostFit> fits_of(const record::Record& record, const std::vector<TrafficPath>& paths)
{
  std::vector<std::string> order;
  std::map<std::string, std::vector<const TrafficPath*>> series;
  for (const TrafficPath& path : paths)
    if (const lab::Traffic* traffic = lab::find_traffic(record.lab, path.traffic)) {
      auto& members = series[series_of(*traffic)];
      if (members.empty()) order.push_back(series_of(*traffic));
      members.push_back(&path);
    }
  std::vector<CostFit> fits;
  for (const std::string& key : order)
    for (const HostPath& host : series[key].front()->hosts) {
      CostFit fit;
      std::vector<double> x;
      std::vector<double> y;
      for (const TrafficPath* path : series[key])
        for (const HostPath& h : path->hosts)
          if (h.host == host.host) {
            fit.traffics.push_back(path->traffic);
            x.push_back(static_cast<double>(path->message_bytes));
            y.push_back(h.cpu_ns);
          }
      const auto line = fit_line(x, y);
      if (!line) continue;
      fit.transport = series[key].front()->transport;
      fit.host = host.host;
      fit.message_ns = short_of(line->a);
      fit.message_error = short_of(line->a_error);
      fit.byte_ns = short_of(line->b);
      fit.byte_error = short_of(line->b_error);
      fit.r2 = short_of(line->r2);
      fits.push_back(std::move(fit));
    }
  return fits;
}

} // namespace

const std::vector<std::string>& stage_names()
{
  return lab::words_of(lab::Parameter::stage);
}

std::optional<PathReport> path_report(const record::Record& record)
{
  PathReport report;
  bool kept = false;
  for (const record::Cell& cell : record.cells) {
    if (!cell.path) continue;
    kept = true;
    for (const std::string& function : cell.path->missing)
      if (std::find(report.missing.begin(), report.missing.end(), function) == report.missing.end())
        report.missing.push_back(function);
  }
  if (!kept) return std::nullopt;
  for (const lab::Traffic& traffic : record.lab.traffic)
    if (traffic.kind != lab::TrafficKind::command)
      if (auto path = traffic_path(record, traffic)) report.traffic.push_back(std::move(*path));
  report.fits = fits_of(record, report.traffic);
  return report;
}

Problems judge_paths(const record::Record& record)
{
  constexpr double tolerance = 0.05;
  Problems problems;
  const auto bad = [&](const record::Cell& cell, const std::string& text) {
    problems.push_back({Exit::setup, cell.id + ": " + text});
  };
  for (const record::Cell& cell : record.cells) {
    if (!cell.path) continue;
    const bool programs =
        std::any_of(cell.traffic.begin(), cell.traffic.end(), [&](const std::string& name) {
          const lab::Traffic* traffic = lab::find_traffic(record.lab, name);
          return traffic != nullptr && traffic->kind == lab::TrafficKind::command;
        });
    std::uint64_t borders = 0;
    for (const record::PathHost& host : cell.path->hosts) {
      borders += host.borders;
      const auto cpu = std::find_if(cell.cpu.begin(), cell.cpu.end(),
                                    [&](const record::Cpu& c) { return c.host == host.host; });
      if (cpu == cell.cpu.end()) {
        bad(cell, "no CPU time to compare the stages of " + host.host + " with");
        continue;
      }
      const auto all = static_cast<double>(cpu->all_ns());
      const auto stages = static_cast<double>(total(host.stage_ns));
      if (std::abs(stages - all) > tolerance * all)
        bad(cell, fmt::format("the stages of {} add up to {:.1f} % of its CPU time", host.host,
                              all > 0 ? 100 * stages / all : 0));
      // A program's children are the ledger's, but not in the scheduler's figure.
      const auto agreement = programs ? std::nullopt : against_scheduler(*cpu, host);
      if (agreement &&
          std::abs(*agreement - 1) * static_cast<double>(host.task_ns) > tolerance * all)
        bad(cell, fmt::format("the book has {:.1f} % of the time that the scheduler says the "
                              "endpoints of {} ran",
                              100 * *agreement, host.host));
    }
    if (cell.path->unbalanced * 100 > borders)
      bad(cell, fmt::format("{} of {} borders of the path ledger fitted no stage",
                            cell.path->unbalanced, borders));
  }
  return problems;
}

} // namespace rdmalab::analysis
