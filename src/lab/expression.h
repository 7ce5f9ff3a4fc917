#pragma once

#include "base/result.h"
#include "lab/lab.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The language of `expect`: one comparison of sums and products of numbers with units and of
/// functions of what was measured (docs/lab-file.md). An expression is a plain value; who evaluates
/// it brings the figures.
namespace rdmalab::lab {

/// A number without unit counts as ratio or count, whichever its neighbour is. `any` is of a figure
/// that the lab does not have: whatever its neighbour is.
enum class Dimension { number, ratio, count, rate, time, bytes, any };

enum class Function {
  retention,
  goodput,
  latency,
  figure,
  cpu,
  cpu_per_gib,
  counter,
  observed,
  corrupt,
  completions,
  messages,
  setup,
  fired,
  matched,
  syscalls,
  copies,
  copied,
  wakeups,
  switches,
  softirqs,
  packets,
  stage,
  per_message,
  per_byte,
  wire,
};

/// One call, its arguments by meaning; what a function doesn't take is empty.
struct Call {
  Function function = Function::retention;
  std::string traffic; ///< may be empty for counter(): all traffics
  std::string host;
  std::string fault;
  std::string rule;
  std::string counter;
  std::string status;     ///< "IBV_WC_RETRY_EXC_ERR"
  std::string step;       ///< of setting up: "rts"
  std::string percentile; ///< "p50", "p99", "p999", "max"
  std::string part;       ///< "app", "system", "rxe", "softirq", "total"; cpu()'s default is total
  std::string stage;      ///< "copy"; of a message's path, see docs/measures.md
  std::string condition; ///< "baseline", "faulted"; empty: faulted if the lab has faults, otherwise
                         ///< baseline
};

/// A node of the expression. Values: ratios as 1.0 for 100 %, rates in bits/s, times in ns, bytes,
/// counts.
struct Expr {
  enum class Kind { number, call, add, subtract, multiply, divide };
  Kind kind = Kind::number;
  Dimension dimension = Dimension::number;
  int column = 0; ///< in the text, from 1
  double value = 0;
  Call call;
  std::vector<int> argument_columns;  ///< of a call's arguments, in the order written
  std::vector<std::string> arguments; ///< as written
  std::vector<Expr> operands;         ///< two, of an operation
};

enum class Relation { less, less_equal, greater, greater_equal, equal };

struct Comparison {
  std::string text;
  Relation relation = Relation::less;
  Expr left;
  Expr right;
};

/// What is wrong with an expression, at a column of its text, from 1.
struct Problem {
  int column = 0;
  std::string message;
  std::string hint;
};

struct ParsedExpression {
  std::optional<Comparison> comparison;
  std::vector<Problem> problems; ///< empty if there is a comparison
};

/// Syntax, units and the fixed words of functions. Stops at the first problem. What figure() gives
/// the lab's traffics say; names that it does not have are check_expression()'s to refuse.
ParsedExpression parse_expression(std::string_view text, const Lab& lab = {});

/// A sum alone, without a comparison.
struct ParsedTerm {
  std::optional<Expr> term;
  std::vector<Problem> problems; ///< empty if there is a term
};
ParsedTerm parse_term(std::string_view text, const Lab& lab = {});

/// Names that the lab doesn't have, and questions that it can't answer: retention without faults,
/// completions of TCP, the goodput of a program that tells a time.
std::vector<Problem> check_expression(const Comparison& comparison, const Lab& lab);
std::vector<Problem> check_expression(const Expr& term, const Lab& lab);

/// The condition that a call means in this lab: its own, or the default.
std::string condition_of(const Call& call, const Lab& lab);

/// A figure and the interval in which it lies, low <= value <= high.
struct Value {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// Gives a call's figure, in the units of Expr, or the Error that says why there is none.
using Lookup = std::function<Result<Value>(const Call&)>;

/// Interval arithmetic. Errors: what `lookup` gives, and a division by an interval that holds zero.
Result<Value> evaluate(const Expr& expression, const Lookup& lookup);

enum class Judgement { pass, fail, inconclusive };

struct Judged {
  Judgement judgement = Judgement::inconclusive;
  Value left;
  Value right;
};

/// pass: every value of the intervals satisfies the relation; fail: none does; otherwise
/// inconclusive.
Result<Judged> judge(const Comparison& comparison, const Lookup& lookup);

} // namespace rdmalab::lab
