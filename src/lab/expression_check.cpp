#include "lab/expression.h"
#include "lab/figure_unit.h"
#include "lab/functions.h"
#include "lab/suggest.h"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::lab {
namespace {

template <typename Things> std::vector<std::string> names_in(const Things& things)
{
  std::vector<std::string> names;
  names.reserve(things.size());
  for (const auto& thing : things) names.push_back(thing.name);
  return names;
}

class Checker {
public:
  Checker(const Lab& lab, std::vector<Problem>& out)
      : lab_(lab), out_(out), traffics_(names_in(lab.traffic)),
        hosts_(names_in(lab.topology.hosts)), faults_(names_in(lab.faults)),
        rules_(names_in(lab.rules))
  {}

  void check(const Expr& expression)
  {
    for (const Expr& operand : expression.operands) check(operand);
    if (expression.kind == Expr::Kind::call) check_call(expression);
  }

private:
  /// Where the argument with this value stands.
  static int column_of(const Expr& expression, const std::string& value)
  {
    for (std::size_t i = 0; i < expression.arguments.size(); ++i)
      if (expression.arguments[i] == value) return expression.argument_columns[i];
    return expression.column;
  }

  void check_name(const Expr& expression, const std::string& what, const std::string& name,
                  const std::vector<std::string>& known)
  {
    if (name.empty() || std::find(known.begin(), known.end(), name) != known.end()) return;
    out_.push_back(
        {column_of(expression, name),
         fmt::format("the lab has no {} \"{}\"{}", what, name, did_you_mean(name, known)),
         known.empty() ? std::string{} : fmt::format("{}s: {}", what, join(known))});
  }

  void check_call(const Expr& expression)
  {
    const Call& call = expression.call;
    check_name(expression, "traffic", call.traffic, traffics_);
    check_name(expression, "fault", call.fault, faults_);
    check_name(expression, "rule", call.rule, rules_);
    std::vector<std::string> hosts = hosts_;
    if (call.function == Function::cpu) hosts.emplace_back("fabric");
    check_name(expression, "host", call.host, hosts);
    if (lab_.faultless() && (call.function == Function::retention || call.condition == "faulted"))
      out_.push_back({expression.column, "the lab has no faults, so there is no faulted condition",
                      "name one in `faults` or `rules`, or ask for goodput(traffic, baseline)"});
    if (needs_path(call.function) && !lab_.measure.path)
      out_.push_back(
          {expression.column,
           fmt::format("{} needs the path ledger, which is off", signature_of(call.function).name),
           "say `path: on` in `measure`"});
    if (call.function == Function::figure) check_figure(expression);
    if (call.function == Function::goodput || call.function == Function::retention)
      check_goodput(expression);
    if (call.function == Function::completions) check_verbs(expression, "has no work completions");
    if (call.function == Function::setup) check_verbs(expression, "sets up no queue pair");
  }

  void check_figure(const Expr& expression)
  {
    const Traffic* traffic = find_traffic(lab_, expression.call.traffic);
    if (traffic == nullptr || printed_unit_of(*traffic) != nullptr) return;
    const std::string& name = traffic->name;
    if (traffic->kind == TrafficKind::command)
      out_.push_back({column_of(expression, name), fmt::format("\"{}\" names no figure", name),
                      "say `figure` and `unit` in the traffic"});
    else
      out_.push_back({column_of(expression, name),
                      fmt::format("\"{}\" is no program and prints no figure", name),
                      fmt::format("goodput({0}) or latency({0}, p50)", name)});
  }

  void check_goodput(const Expr& expression)
  {
    const Traffic* traffic = find_traffic(lab_, expression.call.traffic);
    if (traffic == nullptr || tells_goodput(*traffic)) return;
    const bool silent = printed_unit_of(*traffic) == nullptr;
    out_.push_back({column_of(expression, traffic->name),
                    fmt::format("\"{}\" has no goodput: {}", traffic->name,
                                silent ? "it names no figure" : "its figure is no rate"),
                    silent ? "say `figure` and a `unit` that is a rate in the traffic"
                           : fmt::format("figure({}) is what it prints", traffic->name)});
  }

  void check_verbs(const Expr& expression, const char* lack)
  {
    for (const Traffic& traffic : lab_.traffic)
      if (traffic.name == expression.call.traffic && traffic.kind != TrafficKind::verbs)
        out_.push_back({column_of(expression, traffic.name),
                        fmt::format("\"{}\" is no verbs traffic and {}", traffic.name, lack),
                        {}});
  }

  const Lab& lab_;
  std::vector<Problem>& out_;
  std::vector<std::string> traffics_;
  std::vector<std::string> hosts_;
  std::vector<std::string> faults_;
  std::vector<std::string> rules_;
};

} // namespace

std::vector<Problem> check_expression(const Comparison& comparison, const Lab& lab)
{
  std::vector<Problem> problems;
  Checker checker(lab, problems);
  checker.check(comparison.left);
  checker.check(comparison.right);
  return problems;
}

std::vector<Problem> check_expression(const Expr& term, const Lab& lab)
{
  std::vector<Problem> problems;
  Checker(lab, problems).check(term);
  return problems;
}

std::string condition_of(const Call& call, const Lab& lab)
{
  if (!call.condition.empty()) return call.condition;
  return lab.faultless() ? "baseline" : "faulted";
}

} // namespace rdmalab::lab
