#pragma once

#include "lab/expression.h"
#include "lab/lab.h"

#include <string>

/// What a program's figure is in (Command::unit).
namespace rdmalab::lab {

struct FigureUnit {
  std::string name;
  Dimension dimension = Dimension::rate; ///< rate, time or count
  double scale = 1; ///< one of it in bits/s or ns; a count is of the expression's matches
};

/// Null for a name that is no unit.
const FigureUnit* figure_unit_of(const std::string& name);

/// The unit of what a traffic of kind command prints; null for one that names no figure, and for
/// other kinds.
const FigureUnit* printed_unit_of(const Traffic& traffic);

/// Of what figure() gives: the unit's, or any where there is no such traffic or figure.
Dimension figure_dimension(const Lab& lab, const std::string& traffic);

/// False for a program whose figure is no rate, or that has none: nobody knows how much it sent.
bool tells_goodput(const Traffic& traffic);

} // namespace rdmalab::lab
