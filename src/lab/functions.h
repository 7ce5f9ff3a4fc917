#pragma once

#include "lab/expression.h"

#include <string>
#include <vector>

/// The functions of the expression language as a table: parser, checker and reference read it.
namespace rdmalab::lab {

enum class Parameter {
  traffic,
  host,
  fault,
  rule,
  counter,
  status,
  percentile,
  part,
  stage,
  step,
  condition
};

struct Signature {
  Function function;
  std::string name;
  Dimension result; ///< any: as the traffic's unit says
  std::vector<Parameter> required;
  std::vector<Parameter> optional; ///< each may be left out; told apart by their words
};

const std::vector<Signature>& signatures();
const Signature& signature_of(Function function);

/// Whether the function needs `measure: {path: on}`.
bool needs_path(Function function);

/// "goodput(traffic[, condition])"
std::string usage(const Signature& signature);

/// The only words that a parameter takes; empty: any name.
const std::vector<std::string>& words_of(Parameter parameter);
std::string name_of(Parameter parameter);

/// The field of a Call that holds a parameter.
std::string& field_of(Call& call, Parameter parameter);

} // namespace rdmalab::lab
