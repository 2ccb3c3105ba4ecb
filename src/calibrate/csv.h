// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// CSV as people publish measurements: a line of column names, then a line a row, fields in quotes where they hold
// commas. In: the text of a file. Out: cells by column name, numbers with the unit that the column's name ends with.
// Called by read_csv.cpp. A cell that is wrong is named by file, line and column.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tailor::calibrate {

struct CsvTable {
  std::string file;
  std::vector<std::string> head;
  struct Row {
    std::int64_t line = 0;  ///< of the file, from 1
    std::vector<std::string> cells;
  };
  std::vector<Row> rows;  ///< each with as many cells as `head`
};

/// RFC 4180, with "\n" or "\r\n"; empty lines and lines that begin with '#' are left out. Throws Error(failed) for a
/// row with another number of cells, quotes that do not end, a column that is there twice, and for no row at all.
CsvTable parse_csv(std::string_view text, const std::string& file, const std::stop_token& stop = {});

/// What a column with a unit tells.
enum class UnitOf : std::uint8_t { time, bytes };
/// The units that a name of such a column may end with, behind an underscore: "s", "ms", ...
std::vector<std::string_view> units_of(UnitOf of);

/// One row, asked by column.
class CsvRow {
 public:
  CsvRow(const CsvTable& table, const CsvTable::Row& row) : table_(table), row_(row) {}

  /// Position of a column; nothing where there is none.
  std::optional<std::size_t> find(std::string_view column) const;
  /// The cell. Throws where there is no such column.
  const std::string& text(std::string_view column) const;
  /// A number from 0 up, "" being 0. Throws Error(failed) naming line and column.
  double number(std::string_view column) const;
  /// The same, which must be there and above 0.
  double positive(std::string_view column) const;
  /// A quantity whose column ends with its unit: quantity("time") finds time_s, time_ms, time_us or time_ns and answers
  /// in seconds; quantity("read") finds read_bytes, read_kb or read_mb (powers of 1000). Nothing where no column has it
  /// or the cell is empty. Throws Error(failed) for a column without a unit or with one that is not known, and for
  /// several.
  std::optional<double> quantity(std::string_view name) const;

  Position position() const { return {table_.file, row_.line, 0}; }
  [[noreturn]] void fail(std::string_view column, std::string_view expected) const;

 private:
  const CsvTable& table_;
  const CsvTable::Row& row_;
};

}  // namespace tailor::calibrate
