#pragma once

#include "report/style.h"

#include <string>
#include <utility>
#include <vector>

namespace rdmalab::report {

/// Rows in columns as wide as their widest cell, two spaces apart. The first row is the heading.
class Grid {
public:
  struct Column {
    std::string heading;
    bool right = false;
  };
  struct Cell {
    std::string text;
    Tone tone = Tone::plain;
    Cell(std::string t, Tone how = Tone::plain) : text(std::move(t)), tone(how) {}
    Cell(const char* t) : text(t) {}
  };

  explicit Grid(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// Cells that are missing at the end stay empty; there may not be more than columns.
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// Lines, each ended; none is wider than the style allows, a line that would be is cut.
  [[nodiscard]] std::string text(const Style& style) const;

private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

} // namespace rdmalab::report
