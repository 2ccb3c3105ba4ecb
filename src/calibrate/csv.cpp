// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The reader of CSV and the units that a column's name may end with. A text comes in; a table of cells goes out, each
// row with its line, so that a message can name it. Nothing is guessed: a number without a unit has no meaning here,
// and a time below 0 is a slip of whoever wrote the file. Called by read_csv.cpp.
#include "calibrate/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/stop.h"
#include "base/text.h"

namespace tailor::calibrate {

namespace {

struct UnitRow {
  UnitOf of;
  std::string_view suffix;
  double scale;  ///< to seconds, or to bytes
};
constexpr std::array units = std::to_array<UnitRow>({
    {UnitOf::time, "s", 1},
    {UnitOf::time, "ms", 1e-3},
    {UnitOf::time, "us", 1e-6},
    {UnitOf::time, "ns", 1e-9},
    {UnitOf::bytes, "bytes", 1},
    {UnitOf::bytes, "kb", 1e3},
    {UnitOf::bytes, "mb", 1e6},
    {UnitOf::bytes, "gb", 1e9},
});

/// The cells of one line, which may go on over quoted line ends. `at` moves behind it.
std::vector<std::string> next_cells(std::string_view text, std::size_t& at, std::int64_t& line,
                                    const std::string& file) {
  const std::int64_t first_line = line;
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n') ++line;
    if (quoted) {
      if (c != '"') {
        cells.back() += c;
      } else if (at + 1 < text.size() && text[at + 1] == '"') {
        cells.back() += '"';
        ++at;
      } else {
        quoted = false;
      }
    } else if (c == '"' && cells.back().empty()) {
      quoted = true;
    } else if (c == ',') {
      cells.emplace_back();
    } else if (c == '\n') {
      ++at;
      return cells;
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  if (quoted)
    throw Error(Fault::failed, Position{file, first_line, 0}, "found quotes that do not end",
                "a quote inside quotes is written twice");
  return cells;
}

}  // namespace

CsvTable parse_csv(std::string_view text, const std::string& file, const std::stop_token& stop) {
  CsvTable table;
  table.file = file;
  std::int64_t line = 1;
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // spreadsheets write one
  for (std::size_t at = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0; at < text.size();) {
    stop_if_asked(stop);
    const std::int64_t here = line;
    if (text[at] == '#') {  // a comment ends with its line, whatever quotes it has
      at = std::min(text.find('\n', at), text.size() - 1) + 1;
      ++line;
      continue;
    }
    std::vector<std::string> cells = next_cells(text, at, line, file);
    if (cells.size() == 1 && trim(cells[0]).empty()) continue;
    if (table.head.empty()) {
      for (std::string& cell : cells) {
        cell = std::string(trim(cell));
        if (std::find(table.head.begin(), table.head.end(), cell) != table.head.end())
          throw Error(Fault::failed, Position{file, here, 0},
                      fmt::format("found column '{}' twice, expected each name once", cell),
                      "is this a table of measurements? docs/calibration.md lists the columns");
        table.head.push_back(cell);
      }
      continue;
    }
    if (cells.size() != table.head.size())
      throw Error(
          Fault::failed, Position{file, here, 0},
          fmt::format("found {} cells, expected {} as in the line of column names", cells.size(), table.head.size()));
    table.rows.push_back({here, std::move(cells)});
  }
  if (table.rows.empty())
    throw Error(Fault::failed, Position{file, line, 0},
                "found no row of measurements, expected a line of column names and rows below it",
                "docs/calibration.md lists the columns");
  return table;
}

std::optional<std::size_t> CsvRow::find(std::string_view column) const {
  const auto at = std::find(table_.head.begin(), table_.head.end(), column);
  if (at == table_.head.end()) return std::nullopt;
  return static_cast<std::size_t>(at - table_.head.begin());
}

void CsvRow::fail(std::string_view column, std::string_view expected) const {
  const std::optional<std::size_t> at = find(column);
  throw Error(
      Fault::failed, position(),
      at ? fmt::format("found '{}' in column '{}', expected {}", row_.cells[*at].substr(0, 60), column, expected)
         : fmt::format("there is no column '{}', expected {}", column, expected),
      fmt::format("the columns are {}", fmt::join(table_.head, ", ")));
}

const std::string& CsvRow::text(std::string_view column) const {
  const std::optional<std::size_t> at = find(column);
  if (!at) fail(column, "one with that name");
  return row_.cells[*at];
}

double CsvRow::number(std::string_view column) const {
  const std::string_view cell = trim(text(column));
  if (cell.empty()) return 0;
  double value = 0;
  const auto [end, fault] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (fault != std::errc{} || end != cell.data() + cell.size() || !std::isfinite(value) || value < 0)
    fail(column, "a number from 0 up");
  return value;
}

double CsvRow::positive(std::string_view column) const {
  const double value = number(column);
  if (!(value > 0)) fail(column, "a number above 0");
  return value;
}

std::vector<std::string_view> units_of(UnitOf of) {
  std::vector<std::string_view> all;
  for (const UnitRow& row : units)
    if (row.of == of) all.push_back(row.suffix);
  return all;
}

std::optional<double> CsvRow::quantity(std::string_view name) const {
  std::optional<double> found;
  std::string_view by;
  for (const std::string& column : table_.head) {
    if (column == name)
      fail(column, fmt::format("a column with its unit: {0}_s, {0}_ms, {0}_us or {0}_ns of times, {0}_bytes, {0}_kb or "
                               "{0}_mb of bytes",
                               name));
    if (!column.starts_with(name) || column.substr(name.size(), 1) != "_") continue;
    const std::string_view suffix = std::string_view(column).substr(name.size() + 1);
    const auto unit =
        std::find_if(units.begin(), units.end(), [&](const UnitRow& row) { return row.suffix == suffix; });
    if (unit == units.end()) continue;
    if (!by.empty()) fail(column, fmt::format("it once: column '{}' says it too", by));
    by = column;
    if (!trim(text(column)).empty()) found = number(column) * unit->scale;
  }
  return found;
}

}  // namespace tailor::calibrate
