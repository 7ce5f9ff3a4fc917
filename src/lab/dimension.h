#pragma once

#include "lab/expression.h"
#include "lab/quantity.h"

#include <optional>
#include <string>

/// How the dimensions of expressions go together.
namespace rdmalab::lab {

/// "a rate"
std::string dimension_name(Dimension d);

/// The quantity whose units a number of this dimension carries; nothing if it has none.
std::optional<Type> type_of(Dimension d);

/// The dimension of two that are added or compared, of a product, and of a quotient; nothing if
/// they can't be.
std::optional<Dimension> common(Dimension a, Dimension b);
std::optional<Dimension> product(Dimension a, Dimension b);
std::optional<Dimension> quotient(Dimension a, Dimension b);

} // namespace rdmalab::lab
