#include "analysis/samples.h"

namespace rdmalab::analysis {

std::vector<Sample> samples_of(const record::Record& record, std::string_view traffic,
                               std::string_view condition)
{
  std::vector<Sample> samples;
  for (const record::Cell& cell : record.cells) {
    if (cell.condition != condition) continue;
    for (const record::Flow& flow : cell.flows)
      if (flow.traffic == traffic) samples.push_back({&cell, &flow});
  }
  return samples;
}

std::uint64_t window_ns(const Sample& sample)
{
  return sample.flow->window_ns != 0 ? sample.flow->window_ns : sample.cell->window_ns;
}

double goodput_bps(const Sample& sample)
{
  const std::uint64_t window = window_ns(sample);
  if (window == 0) return 0;
  return static_cast<double>(sample.flow->bytes) * 8e9 / static_cast<double>(window);
}

std::vector<double> goodputs(const std::vector<Sample>& samples)
{
  std::vector<double> values;
  values.reserve(samples.size());
  for (const Sample& s : samples) values.push_back(goodput_bps(s));
  return values;
}

std::vector<double> printed_figures(const std::vector<Sample>& samples)
{
  std::vector<double> values;
  for (const Sample& s : samples)
    if (s.flow->figure) values.push_back(static_cast<double>(*s.flow->figure));
  return values;
}

std::uint32_t payload_in_force(const std::vector<Sample>& samples)
{
  for (const Sample& s : samples)
    if (s.flow->path_mtu != 0) return s.flow->path_mtu;
  return 0;
}

} // namespace rdmalab::analysis
