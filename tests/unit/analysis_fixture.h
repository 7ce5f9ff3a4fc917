#pragma once

#include "record/record.h"

#include <string>

/// A Record as an engine would make it: loss of 1 % from client to server, RoCE and TCP, three
/// repeats. Every count agrees with every other, so analyse() finds nothing to complain about;
/// tests break one thing each.
namespace rdmalab::test {

inline lab::Lab loss_lab()
{
  lab::Lab lab;
  lab.name = "loss-1pct";
  lab.hypothesis =
      "One lost packet in a hundred costs RoCE most of its throughput and TCP little of it.";
  for (const char* name : {"client", "server"}) {
    lab::Host host;
    host.name = name;
    host.down = {1'000'000'000, 20'000, 0};
    lab.topology.hosts.push_back(host);
  }
  lab::Traffic roce;
  roce.name = "roce";
  roce.from = "client";
  roce.to = "server";
  lab.traffic.push_back(roce);
  lab::Traffic tcp = roce;
  tcp.name = "tcp";
  tcp.kind = lab::TrafficKind::tcp;
  lab.traffic.push_back(tcp);
  lab.groups = {{"roce"}, {"tcp"}};
  lab::Fault loss;
  loss.name = "loss";
  loss.from = "client";
  loss.to = "server";
  loss.rate_ppm = 10'000;
  lab.faults.push_back(loss);
  lab.expect = {{"retention(roce) < 0.30", 20, 5}, {"retention(tcp) >= 0.90", 21, 5}};
  return lab;
}

inline record::Cell cell(const lab::Lab& lab, const std::string& traffic, bool faulted,
                         std::uint32_t repeat, std::uint64_t goodput_bps)
{
  constexpr std::uint64_t second = 1'000'000'000;
  const bool tcp = traffic == "tcp";
  record::Cell c;
  c.id = traffic + (faulted ? "/faulted/" : "/baseline/") + std::to_string(repeat);
  c.traffic = {traffic};
  c.condition = faulted ? "faulted" : "baseline";
  c.repeat = repeat;
  c.seed = repeat;
  c.window_ns = second;
  c.busy_ns = second / 2;

  record::Flow flow;
  flow.traffic = traffic;
  flow.window_ns = second;
  flow.path_mtu = tcp ? 1448 : 1024;
  flow.messages = goodput_bps / 8 / 65536;
  flow.bytes = flow.messages * 65536;
  flow.total_messages = flow.messages + 10;
  flow.total_bytes = flow.total_messages * 65536;
  flow.checked_messages = flow.total_messages;
  for (std::uint64_t i = 0; i < flow.messages; ++i) flow.latency.add(500'000 + i * 10);
  if (!tcp) flow.completions["IBV_WC_SUCCESS"] = flow.total_messages;

  record::Impairment down;
  down.host = "server";
  down.requested.rate_bps = 1'000'000'000;
  down.requested.delay_ns = 20'000;
  if (faulted) down.requested.loss_ppm = lab.faults.front().rate_ppm;
  down.applied = down.requested;
  down.applied_as_requested = true;
  down.exact = true;
  down.packets = flow.total_bytes / flow.path_mtu + 1000;
  down.bytes = flow.total_bytes + down.packets * 66;
  if (faulted) down.dropped = down.packets / 99 + repeat; // 1 % of what came
  record::Impairment up = down;
  up.host = "client";
  up.requested.loss_ppm = up.applied.loss_ppm = 0;
  up.dropped = 0;
  c.impairments = {up, down};

  for (const char* host : {"client", "server"}) {
    c.cpu.push_back({host, 10'000'000, 90'000'000, tcp ? 0U : 150'000'000U, 100'000'000});
    c.offloads[std::string(host) + " eth0"] = "";
    c.counters.push_back(
        {host, {{"sent_pkts", 1000}, {"rcvd_seq_err", faulted ? 7U : 0U}}, {{"rx_packets", 2000}}});
  }
  c.flows.push_back(std::move(flow));
  return c;
}

inline record::Record loss_record()
{
  record::Record record;
  record.lab = loss_lab();
  record.environment = {"vm",     "virtual", "tcg",       "7.3.4",
                        "10.0.2", "0.1.0",   "sha256:00", "snapshot"};
  record.timing = {48.1, 2.5};
  for (std::uint32_t r = 0; r < 3; ++r) {
    record.cells.push_back(cell(record.lab, "roce", false, r, 930'000'000));
    record.cells.push_back(cell(record.lab, "roce", true, r, 250'000'000 + r * 2'000'000));
    record.cells.push_back(cell(record.lab, "tcp", false, r, 938'000'000));
    record.cells.push_back(cell(record.lab, "tcp", true, r, 910'000'000 + r * 1'000'000));
  }
  return record;
}

/// The tcp traffic as a program that prints a time (ns) or a count: so much in each repeat.
inline void make_program(record::Record& record, const std::string& unit, std::uint64_t unfaulted,
                         std::uint64_t faulted)
{
  lab::Traffic& traffic = record.lab.traffic[1];
  traffic.kind = lab::TrafficKind::command;
  traffic.command = {"client", "server", {}, "(x)", unit};
  record.lab.expect.pop_back(); // of its retention
  for (record::Cell& c : record.cells) {
    record::Flow& flow = c.flows.front();
    if (flow.traffic != traffic.name) continue;
    record::Flow program;
    program.traffic = flow.traffic;
    program.window_ns = flow.window_ns;
    program.figure = (c.condition == "faulted" ? faulted : unfaulted) + c.repeat;
    flow = std::move(program);
  }
}

/// The cell of that id; aborts the test program if there is none.
inline record::Cell& cell_of(record::Record& record, const std::string& id)
{
  for (record::Cell& c : record.cells)
    if (c.id == id) return c;
  std::abort();
}

} // namespace rdmalab::test
