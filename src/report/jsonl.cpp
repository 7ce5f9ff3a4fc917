#include "report/jsonl.h"

#include "analysis/samples.h"
#include "base/json.h"

#include <cmath>

namespace rdmalab::report {
namespace {

std::string line(const Json& json)
{
  return to_text(json) + "\n";
}

} // namespace

std::string jsonl_cell(const record::Cell& cell)
{
  Json flows = Json::array();
  for (const record::Flow& flow : cell.flows) {
    Json line_of{{"traffic", flow.traffic},
                 {"outcome", flow.outcome},
                 {"goodput_bps",
                  static_cast<std::uint64_t>(std::llround(analysis::goodput_bps({&cell, &flow})))},
                 {"bytes", flow.bytes},
                 {"messages", flow.messages}};
    if (flow.figure) line_of["figure"] = *flow.figure;
    // A program's time or count is no goodput of zero.
    if (flow.figure && flow.bytes == 0) line_of["goodput_bps"] = nullptr;
    flows.push_back(std::move(line_of));
  }
  return line(Json{{"event", "cell"},
                   {"id", cell.id},
                   {"condition", cell.condition},
                   {"repeat", cell.repeat},
                   {"window_ns", cell.window_ns},
                   {"busy_ns", cell.busy_ns},
                   {"flows", std::move(flows)},
                   {"problems", cell.problems}});
}

std::string jsonl_result(const analysis::Result& result)
{
  return line(Json{{"event", "result"}, {"result", result}});
}

std::string jsonl(const record::Record& record, const analysis::Result& result)
{
  std::string text;
  for (const record::Cell& cell : record.cells) text += jsonl_cell(cell);
  return text + jsonl_result(result);
}

} // namespace rdmalab::report
