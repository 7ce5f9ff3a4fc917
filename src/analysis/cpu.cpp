#include "analysis/cpu.h"

#include "analysis/statistics.h"

namespace rdmalab::analysis {
namespace {

struct Sum {
  record::Cpu cpu;
  std::uint64_t window_ns = 0;
  std::uint64_t bytes = 0;
  std::uint64_t cells = 0;
};

CpuResult average(const Sum& sum)
{
  CpuResult result;
  result.app_user_ns = sum.cpu.app_user_ns / sum.cells;
  result.app_system_ns = sum.cpu.app_system_ns / sum.cells;
  result.rxe_ns = sum.cpu.rxe_ns / sum.cells;
  result.softirq_ns = sum.cpu.softirq_ns / sum.cells;
  const auto total = static_cast<double>(sum.cpu.all_ns());
  constexpr double gib = 1024.0 * 1024 * 1024;
  if (sum.bytes != 0)
    result.seconds_per_gib = rounded(total / 1e9 / (static_cast<double>(sum.bytes) / gib));
  if (sum.window_ns != 0)
    result.percent_of_core = rounded(100 * total / static_cast<double>(sum.window_ns)).value_or(0);
  return result;
}

} // namespace

std::map<std::string, CpuResult> cpu_of(const std::vector<Sample>& samples)
{
  std::map<std::string, Sum> sums;
  for (const Sample& s : samples) {
    std::uint64_t bytes = 0;
    for (const record::Flow& flow : s.cell->flows) bytes += flow.bytes;
    for (const record::Cpu& cpu : s.cell->cpu) {
      Sum& sum = sums[cpu.host];
      sum.cpu += cpu;
      sum.window_ns += s.cell->window_ns != 0 ? s.cell->window_ns : window_ns(s);
      sum.bytes += bytes;
      ++sum.cells;
    }
  }
  std::map<std::string, CpuResult> results;
  for (const auto& [host, sum] : sums) results.emplace(host, average(sum));
  return results;
}

} // namespace rdmalab::analysis
