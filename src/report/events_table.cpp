#include "report/events_table.h"

#include "analysis/words.h"
#include "report/grid.h"

namespace rdmalab::report {
namespace {

const analysis::ScriptResult* telling_script(const analysis::Result& result)
{
  const analysis::ScriptResult* first = nullptr;
  for (const analysis::CellRecovery& cell : result.recovery) {
    if (!cell.script) continue;
    if (cell.script->broken() != nullptr) return &*cell.script;
    if (first == nullptr) first = &*cell.script;
  }
  return first;
}

std::vector<Grid::Cell> event_row(const analysis::EventResult& event)
{
  const bool unknown = !event.met && event.seen.empty();
  return {{unknown     ? "?"
           : event.met ? "✔"
                       : "✘",
           unknown     ? Tone::doubtful
           : event.met ? Tone::good
                       : Tone::bad},
          event.text,
          event.packet ? std::to_string(*event.packet) : "",
          event.time_ns ? analysis::time_words(static_cast<double>(*event.time_ns)) : "",
          unknown                     ? "not judged"
          : event.met && event.packet ? "" // the event says it
                                      : event.seen};
}

} // namespace

std::string events_table(const analysis::Result& result, const Style& style)
{
  const analysis::ScriptResult* script = telling_script(result);
  if (script == nullptr) return {};
  Grid grid({{""}, {"EVENTS " + script->cell}, {"packet", true}, {"after", true}, {"seen"}});
  for (const analysis::EventResult& event : script->events) grid.add(event_row(event));
  return "\n" + grid.text(style);
}

} // namespace rdmalab::report
