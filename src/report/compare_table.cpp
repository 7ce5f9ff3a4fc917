#include "report/compare_table.h"

#include "analysis/words.h"
#include "report/grid.h"
#include "report/text.h"

#include <spdlog/fmt/fmt.h>

namespace rdmalab::report {
namespace {

using analysis::Change;
using analysis::FigureChange;

std::string word(Change change)
{
  switch (change) {
  case Change::improved:
    return "improved";
  case Change::regressed:
    return "REGRESSED";
  case Change::noise:
    return "no change beyond noise";
  case Change::inconclusive:
    break;
  }
  return "inconclusive: repeat more often";
}

Tone tone(Change change)
{
  if (change == Change::regressed) return Tone::bad;
  if (change == Change::inconclusive) return Tone::doubtful;
  return change == Change::improved ? Tone::good : Tone::plain;
}

std::string figure(const FigureChange& f, double value)
{
  return f.unit == "bit/s" ? analysis::rate_words(value) : analysis::percent_words(value);
}

} // namespace

std::string compare_table(const analysis::Comparison& comparison, const Style& style)
{
  Grid grid({{"TRAFFIC"}, {"figure"}, {"before", true}, {"after", true}, {"change", true}, {""}});
  for (const FigureChange& f : comparison.figures)
    grid.add({{f.traffic, Tone::strong},
              f.figure,
              figure(f, f.before),
              figure(f, f.after),
              f.relative ? fmt::format("{:+.1f} %", *f.relative * 100) : "-",
              {word(f.change), tone(f.change)}});
  std::string out =
      fmt::format("{}, {} clock\n\n{}\n", comparison.lab, comparison.clock, grid.text(style));
  for (const std::string& note : comparison.notes)
    for (const std::string& part : wrap(style.utf8 ? note : to_ascii(note), style.width))
      out += part + "\n";
  out += paint(style, tone(comparison.change), "Overall: " + word(comparison.change)) + "\n";
  return out;
}

} // namespace rdmalab::report
