#include "lab/expression.h"

#include <algorithm>
#include <array>

namespace rdmalab::lab {
namespace {

Value span(double value, std::array<double, 4> ends)
{
  const auto [low, high] = std::minmax_element(ends.begin(), ends.end());
  return {value, *low, *high};
}

Judgement from_bounds(bool always, bool never)
{
  if (always) return Judgement::pass;
  return never ? Judgement::fail : Judgement::inconclusive;
}

} // namespace

Result<Value> evaluate(const Expr& expression, const Lookup& lookup)
{
  if (expression.kind == Expr::Kind::number)
    return Value{expression.value, expression.value, expression.value};
  if (expression.kind == Expr::Kind::call) return lookup(expression.call);

  TRY_ASSIGN(const Value a, evaluate(expression.operands[0], lookup));
  TRY_ASSIGN(const Value b, evaluate(expression.operands[1], lookup));
  switch (expression.kind) {
  case Expr::Kind::add:
    return Value{a.value + b.value, a.low + b.low, a.high + b.high};
  case Expr::Kind::subtract:
    return Value{a.value - b.value, a.low - b.high, a.high - b.low};
  case Expr::Kind::multiply:
    return span(a.value * b.value,
                {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  default:
    break;
  }
  if (b.low <= 0 && b.high >= 0)
    return Error{Exit::inconclusive, "divide by a figure whose interval holds zero", 0, {}, {}};
  return span(a.value / b.value, {a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high});
}

Result<Judged> judge(const Comparison& comparison, const Lookup& lookup)
{
  Judged judged;
  TRY_ASSIGN(judged.left, evaluate(comparison.left, lookup));
  TRY_ASSIGN(judged.right, evaluate(comparison.right, lookup));
  const Value& l = judged.left;
  const Value& r = judged.right;
  switch (comparison.relation) {
  case Relation::less:
    judged.judgement = from_bounds(l.high < r.low, l.low >= r.high);
    break;
  case Relation::less_equal:
    judged.judgement = from_bounds(l.high <= r.low, l.low > r.high);
    break;
  case Relation::greater:
    judged.judgement = from_bounds(l.low > r.high, l.high <= r.low);
    break;
  case Relation::greater_equal:
    judged.judgement = from_bounds(l.low >= r.high, l.high < r.low);
    break;
  case Relation::equal:
    judged.judgement = from_bounds(l.low == l.high && r.low == r.high && l.low == r.low,
                                   l.high < r.low || l.low > r.high);
    break;
  }
  return judged;
}

} // namespace rdmalab::lab
