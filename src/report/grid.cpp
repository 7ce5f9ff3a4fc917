#include "report/grid.h"

#include "report/text.h"

#include <algorithm>

namespace rdmalab::report {

std::string Grid::text(const Style& style) const
{
  std::vector<std::vector<Cell>> rows;
  std::vector<Cell> heading;
  for (const Column& c : columns_) heading.emplace_back(c.heading, Tone::strong);
  rows.push_back(std::move(heading));
  rows.insert(rows.end(), rows_.begin(), rows_.end());

  std::vector<std::size_t> widths(columns_.size(), 0);
  for (auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!style.utf8) row[i].text = to_ascii(row[i].text);
      widths[i] = std::max(widths[i], display_width(row[i].text));
    }

  std::string out;
  for (const auto& row : rows) {
    std::size_t left = style.width;
    std::string line;
    for (std::size_t i = 0; i < row.size() && left > 0; ++i) {
      const bool last = i + 1 == row.size();
      std::string cell =
          last && !columns_[i].right ? row[i].text : pad(row[i].text, widths[i], columns_[i].right);
      if (display_width(cell) > left)
        cell = style.utf8 ? shorten(cell, left) : cell.substr(0, left);
      left -= std::min(left, display_width(cell));
      line += paint(style, row[i].tone, cell);
      if (last || left <= 2) continue;
      line += "  ";
      left -= 2;
    }
    while (!style.colour && line.ends_with(' ')) line.pop_back();
    out += line + "\n";
  }
  return out;
}

} // namespace rdmalab::report
