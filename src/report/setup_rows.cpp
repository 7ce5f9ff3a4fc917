#include "report/setup_rows.h"

#include "analysis/words.h"

#include <algorithm>

namespace rdmalab::report {
namespace {

bool asked_for(const analysis::Result& result)
{
  const auto calls = [](const std::string& text) {
    return text.find("setup(") != std::string::npos;
  };
  return std::ranges::any_of(result.expectations, calls, &analysis::ExpectationResult::text) ||
         std::ranges::any_of(result.claims, calls, &analysis::ClaimResult::holds);
}

} // namespace

SetupRows setup_rows(const analysis::Result& result)
{
  SetupRows table;
  if (!asked_for(result)) return table;
  // In the order in which they are taken.
  const std::vector<std::string> steps{"register", "qp", "exchange", "rts", "cm"};
  table.heading = {"SETTING UP, mean"};
  table.heading.insert(table.heading.end(), steps.begin(), steps.end());
  for (const analysis::TrafficResult& t : result.traffic) {
    if (t.setup_ns.empty()) continue;
    std::vector<std::string> row{t.name};
    for (const std::string& step : steps) {
      const auto taken = t.setup_ns.find(step);
      row.push_back(taken == t.setup_ns.end()
                        ? "-"
                        : analysis::time_words(static_cast<double>(taken->second)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

} // namespace rdmalab::report
