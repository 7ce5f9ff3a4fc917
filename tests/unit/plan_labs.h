#pragma once

#include "base/json.h"
#include "lab/lab.h"

/// Labs that the plan tests start from.
namespace rdmalab::test {

inline lab::Lab two_hosts()
{
  lab::Lab lab;
  lab.name = "two-hosts";
  lab.hypothesis = "Two hosts exchange packets.";
  lab.seed = 7;
  const lab::LinkShape link{1'000'000'000, 20'000, 0};
  lab.topology.hosts = {{"client", link, {}}, {"server", link, {}}};
  lab::Traffic roce;
  roce.name = "roce";
  roce.from = "client";
  roce.to = "server";
  lab::Traffic tcp = roce;
  tcp.name = "tcp";
  tcp.kind = lab::TrafficKind::tcp;
  lab.traffic = {roce, tcp};
  lab.groups = {{"roce"}, {"tcp"}};
  lab.measure.repeat = 2;
  return lab;
}

inline lab::Lab three_hosts()
{
  lab::Lab lab = two_hosts();
  lab.name = "three-hosts";
  lab.topology.hosts.push_back({"third", lab.topology.hosts[0].down, {}});
  return lab;
}

inline lab::Fault fault(lab::FaultKind kind, std::uint64_t rate_ppm = 10'000)
{
  lab::Fault f;
  f.name = "f-" + Json(kind).get<std::string>();
  f.kind = kind;
  f.from = "client";
  f.to = "server";
  f.rate_ppm = rate_ppm;
  return f;
}

} // namespace rdmalab::test
