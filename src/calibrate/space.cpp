// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Tuning spaces from tables. In: cells. Out: numbers: each parameter's values, times in seconds. Called through
// space.h. Parameters with a single value say nothing and are left out; everything else of a row (how long it compiled,
// how much its samples differ) is not read.
#include "calibrate/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "base/counted.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

namespace tailor::calibrate {

namespace {

constexpr std::size_t least_configurations = 20;

std::optional<double> number_in(std::string_view cell) {
  double value = 0;
  const auto [end, fault] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (fault != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// The columns of parameters: those asked for, or all in front of the first that is a result.
std::vector<std::string> parameter_columns(const CsvTable& table, const SpaceColumns& columns) {
  const auto is_result = [&](const std::string& name) {
    return name == "status" || name.starts_with(columns.time + "_");
  };
  for (const std::string& name : columns.parameters)
    if (is_result(name))
      throw Error(Fault::usage, fmt::format("found '{}' among the parameters, which is what a try answers", name),
                  "leave it out of --parameters");
  if (!columns.parameters.empty()) return columns.parameters;
  return {table.head.begin(), std::find_if(table.head.begin(), table.head.end(), is_result)};
}

/// A column as numbers: its own, or the places of its words among all of them.
std::vector<double> numbers_of(const CsvTable& table, const std::string& name) {
  std::vector<double> numbers;
  std::set<std::string> words;
  for (const CsvTable::Row& row : table.rows) {
    const std::string& cell = CsvRow(table, row).text(name);
    words.insert(cell);
    if (const auto number = number_in(cell)) numbers.push_back(*number);
  }
  if (numbers.size() == table.rows.size()) return numbers;
  numbers.clear();
  for (const CsvTable::Row& row : table.rows)
    numbers.push_back(static_cast<double>(std::distance(words.begin(), words.find(CsvRow(table, row).text(name)))));
  return numbers;
}

double time_of(const CsvTable& table, const CsvTable::Row& row, const SpaceColumns& columns) {
  const CsvRow cells(table, row);
  if (cells.find("status") && cells.text("status") != "ok") return std::numeric_limits<double>::infinity();
  const std::optional<double> time = cells.quantity(columns.time);
  if (!time) return std::numeric_limits<double>::infinity();
  if (!(*time > 0)) cells.fail(columns.time, "a time above 0, or a cell that is empty where the configuration failed");
  return *time;
}

/// Throws where no column has the time in a unit that is known.
void check_units(const CsvTable& table, const std::string& time) {
  std::string other;
  for (const std::string& name : table.head) {
    for (const char* unit : {"_s", "_ms", "_us", "_ns"})
      if (name == time + unit) return;
    if (other.empty() && name.starts_with(time + "_")) other = name;
  }
  throw Error(Fault::failed, Position{table.file, 1, 0},
              fmt::format("found {0}, expected one of {1}_s, {1}_ms, {1}_us, {1}_ns",
                          other.empty() ? fmt::format("no column '{}' with its unit", time)
                                        : fmt::format("column '{}', whose unit is not known", other),
                          time),
              other.empty() ? "--time NAME names another one, without its unit"
                            : "write the times in one of these units, or name another column with --time NAME");
}

void check(const CsvTable& table, const TuningSpace& space) {
  const Position place{table.file, 1, 0};
  const std::size_t good = space.size() - space.failed();
  if (good < least_configurations || space.parameters.empty())
    throw Error(
        Fault::failed, place,
        fmt::format("found {} that worked, of {} with more than one value; expected {} or more, and a parameter",
                    counted(good, "configuration"), counted(space.parameters.size(), "parameter"),
                    least_configurations),
        "a tuning space is a table with a row for each configuration");
  std::map<std::vector<double>, std::size_t> seen;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const auto values = space.of(i);
    const auto [other, added] = seen.emplace(std::vector<double>(values.begin(), values.end()), i);
    if (!added)
      throw Error(Fault::failed, Position{table.file, table.rows[i].line, 0},
                  fmt::format("found the configuration of line {} once more, expected each once",
                              table.rows[other->second].line),
                  "name all columns that tell configurations apart with --parameters");
  }
}

}  // namespace

double TuningSpace::best() const {
  return times.empty() ? std::numeric_limits<double>::infinity() : *std::min_element(times.begin(), times.end());
}

std::size_t TuningSpace::failed() const {
  return static_cast<std::size_t>(
      std::count_if(times.begin(), times.end(), [](double time) { return !std::isfinite(time); }));
}

TuningSpace read_space(const CsvTable& table, const SpaceColumns& columns) {
  TuningSpace space;
  space.file = table.file;
  std::vector<std::vector<double>> found;
  for (const std::string& name : parameter_columns(table, columns)) {
    std::vector<double> numbers = numbers_of(table, name);
    if (std::adjacent_find(numbers.begin(), numbers.end(), std::not_equal_to<>()) == numbers.end()) continue;
    space.parameters.push_back(name);
    found.push_back(std::move(numbers));
  }
  check_units(table, columns.time);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    for (const std::vector<double>& column : found) space.values.push_back(column[i]);
    space.times.push_back(time_of(table, table.rows[i], columns));
  }
  check(table, space);
  return space;
}

std::vector<double> problem_sizes(std::string_view json, const std::string& file) {
  const Json text = parse_json(json, file);
  const Json* found = text.find("problem_size");
  std::vector<double> sizes;
  const auto add = [&](const Json& one) {
    if (const auto size = one.number(); size && *size > 1) sizes.push_back(*size);
  };
  if (found == nullptr) return sizes;
  if (found->array() == nullptr) {
    add(*found);
  } else {
    for (const Json& one : *found->array()) add(one);
  }
  return sizes;
}

}  // namespace tailor::calibrate
