#include "analysis/expectations.h"

#include "analysis/figures.h"
#include "analysis/statistics.h"
#include "lab/expression.h"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::analysis {
namespace {

Verdict verdict_of(lab::Judgement judgement)
{
  switch (judgement) {
  case lab::Judgement::pass:
    return Verdict::pass;
  case lab::Judgement::fail:
    return Verdict::fail;
  case lab::Judgement::inconclusive:
    break;
  }
  return Verdict::inconclusive;
}

std::string side_words(const lab::Value& value, lab::Dimension dimension)
{
  std::string text = figure_words(value.value, dimension);
  if (value.low < value.high)
    text += fmt::format(" ({} … {})", figure_words(value.low, dimension),
                        figure_words(value.high, dimension));
  return text;
}

/// A bare number has whatever dimension it is compared with.
lab::Dimension dimension_of(const lab::Comparison& comparison)
{
  return comparison.left.dimension == lab::Dimension::number ? comparison.right.dimension
                                                             : comparison.left.dimension;
}

/// Both sides as measured, where the judgement is not a pass.
std::string reason(const lab::Comparison& comparison, const lab::Judged& judged)
{
  if (judged.judgement == lab::Judgement::pass) return {};
  const lab::Dimension dimension = dimension_of(comparison);
  const std::string left = side_words(judged.left, dimension);
  const std::string right = side_words(judged.right, dimension);
  if (judged.judgement == lab::Judgement::fail)
    return fmt::format("measured {} against {}", left, right);
  return fmt::format("measured {} against {}: the interval leaves it open", left, right);
}

bool asks_for_completions(const lab::Expr& expression, const std::string& traffic)
{
  if (expression.kind == lab::Expr::Kind::call &&
      expression.call.function == lab::Function::completions && expression.call.traffic == traffic)
    return true;
  return std::any_of(expression.operands.begin(), expression.operands.end(),
                     [&](const lab::Expr& e) { return asks_for_completions(e, traffic); });
}

void judge_one(ExpectationResult& expectation, const lab::Lab& lab, const lab::Lookup& figures)
{
  const lab::ParsedExpression parsed = lab::parse_expression(expectation.text, lab);
  if (!parsed.comparison) {
    expectation.reason =
        parsed.problems.empty() ? "no comparison" : parsed.problems.front().message;
    return;
  }
  const auto judged = lab::judge(*parsed.comparison, figures);
  if (!judged) {
    expectation.reason = judged.error().attempted;
    return;
  }
  expectation.verdict = verdict_of(judged->judgement);
  expectation.value = rounded(judged->left.value);
  if (expectation.value)
    expectation.measured = figure_words(*expectation.value, dimension_of(*parsed.comparison));
  expectation.reason = reason(*parsed.comparison, *judged);
}

} // namespace

std::vector<ExpectationResult> judge_expectations(const record::Record& record,
                                                  const Result& result)
{
  std::vector<ExpectationResult> all;
  for (const lab::Expectation& expect : record.lab.expect)
    all.push_back(judge_comparison(record, result, expect));
  return all;
}

ExpectationResult judge_comparison(const record::Record& record, const Result& result,
                                   const lab::Expectation& comparison)
{
  ExpectationResult judged;
  judged.text = comparison.text;
  judged.line = comparison.line;
  if (result.problems.empty())
    judge_one(judged, record.lab, figures_of(record, result));
  else
    judged.reason = "the run is invalid";
  return judged;
}

std::optional<ExpectationResult> judge_events(const record::Record& record, const Result& result)
{
  if (record.lab.events.empty()) return std::nullopt;
  ExpectationResult judged;
  judged.text = "events";
  judged.line = record.lab.events.front().line;
  std::size_t scripts = 0;
  std::size_t events = 0;
  for (const CellRecovery& cell : result.recovery) {
    if (!cell.script) continue;
    ++scripts;
    events += cell.script->events.size();
    const EventResult* broken = cell.script->broken();
    if (broken == nullptr || judged.verdict == Verdict::fail) continue;
    judged.verdict = cell.script->certain ? Verdict::fail : Verdict::inconclusive;
    judged.reason =
        fmt::format("{}: line {}, {{{}}}: {}", cell.cell, broken->line, broken->text, broken->seen);
  }
  if (scripts == 0)
    judged.reason = "no cell has a trace to look for them in";
  else if (judged.reason.empty())
    judged.verdict = Verdict::pass;
  judged.measured = fmt::format("{} in {} cells", events, scripts);
  if (!result.problems.empty()) {
    judged.verdict = Verdict::invalid;
    judged.reason = "the run is invalid";
  }
  return judged;
}

bool foresees_breaking(const lab::Lab& lab, const std::string& traffic)
{
  const auto asks = [&](const lab::Event& event) {
    return event.kind == lab::EventKind::completion && event.traffic == traffic &&
           event.word != "IBV_WC_SUCCESS";
  };
  if (std::any_of(lab.events.begin(), lab.events.end(), asks)) return true;
  return std::any_of(lab.expect.begin(), lab.expect.end(), [&](const lab::Expectation& expect) {
    const auto comparison = lab::parse_expression(expect.text).comparison;
    return comparison && (asks_for_completions(comparison->left, traffic) ||
                          asks_for_completions(comparison->right, traffic));
  });
}

} // namespace rdmalab::analysis
