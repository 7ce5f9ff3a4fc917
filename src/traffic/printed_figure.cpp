#include "traffic/printed_figure.h"

#include "lab/figure_unit.h"

#include <cmath>
#include <cstdlib>
#include <regex>

namespace rdmalab::traffic {

std::optional<std::uint64_t> printed_figure(const std::string& text, const lab::Command& command)
{
  constexpr double most = 1e18; // what an integer holds exactly enough
  const lab::FigureUnit* unit = lab::figure_unit_of(command.unit);
  if (unit == nullptr) return std::nullopt;
  const std::regex pattern(command.figure);
  const std::sregex_iterator end;
  std::uint64_t count = 0;
  std::string last;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), pattern); it != end; ++it) {
    ++count;
    if (it->size() > 1) last = (*it)[1].str();
  }
  if (unit->dimension == lab::Dimension::count) return count;
  char* rest = nullptr;
  const double value = std::strtod(last.c_str(), &rest) * unit->scale;
  if (rest == last.c_str() || !(value >= 0 && value < most)) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(value));
}

} // namespace rdmalab::traffic
