#include "lab/figure_unit.h"

#include <array>

namespace rdmalab::lab {

const FigureUnit* figure_unit_of(const std::string& name)
{
  using D = Dimension;
  static const std::array<FigureUnit, 10> units{{{"bit/s", D::rate, 1},
                                                 {"Mbit/s", D::rate, 1e6},
                                                 {"Gbit/s", D::rate, 1e9},
                                                 {"MB/s", D::rate, 8e6},
                                                 {"MiB/s", D::rate, 8.0 * 1048576},
                                                 {"ns", D::time, 1},
                                                 {"us", D::time, 1e3},
                                                 {"ms", D::time, 1e6},
                                                 {"s", D::time, 1e9},
                                                 {"count", D::count, 1}}};
  for (const FigureUnit& unit : units)
    if (unit.name == name) return &unit;
  return nullptr;
}

const FigureUnit* printed_unit_of(const Traffic& traffic)
{
  if (traffic.kind != TrafficKind::command || traffic.command.figure.empty()) return nullptr;
  return figure_unit_of(traffic.command.unit);
}

Dimension figure_dimension(const Lab& lab, const std::string& traffic)
{
  const Traffic* found = find_traffic(lab, traffic);
  const FigureUnit* unit = found != nullptr ? printed_unit_of(*found) : nullptr;
  return unit != nullptr ? unit->dimension : Dimension::any;
}

bool tells_goodput(const Traffic& traffic)
{
  if (traffic.kind != TrafficKind::command) return true;
  const FigureUnit* unit = printed_unit_of(traffic);
  return unit != nullptr && unit->dimension == Dimension::rate;
}

} // namespace rdmalab::lab
