// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Scales, headings and the machine formats of Table. In: a Table. Out: columns as people see them, Markdown, CSV, JSON.
// Called by every command and by the page. The scale of a column follows the median of its non-zero cells, so one
// outlier does not turn the rest into 0.000012.
#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "base/counted.h"
#include "base/indexed.h"
#include "base/json.h"
#include "base/text.h"
#include "report/width.h"

namespace tailor::report {

namespace {

struct Scale {
  double unit;
  std::string_view name;
};

struct HintRow {
  Hint hint;
  std::string_view suffix;
  bool numeric;
  std::array<Scale, 5> scales;  ///< largest first; a name of "" ends the list
};

constexpr auto hint_table = std::to_array<HintRow>({
    {Hint::text, "", false, {}},
    {Hint::integer, "", true, {}},
    {Hint::count, "", true, {}},
    {Hint::number, "", true, {}},
    {Hint::seconds, "_s", true, {{{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}, {}}}},
    {Hint::bytes, "_bytes", true, {{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "KB"}, {1, "B"}}}},
    {Hint::rate, "_bytes_per_s", true, {{{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "KB/s"}, {1, "B/s"}}}},
    {Hint::flops, "_flops", true, {{{1e12, "TFLOP"}, {1e9, "GFLOP"}, {1e6, "MFLOP"}, {1e3, "KFLOP"}, {1, "FLOP"}}}},
    {Hint::fraction, "_fraction", true, {{{0.01, "%"}, {}, {}, {}, {}}}},
    {Hint::ratio, "_ratio", true, {{{1, "×"}, {}, {}, {}, {}}}},
});

constexpr const HintRow& row(Hint hint) { return row_for(hint_table, hint); }

std::optional<double> number(const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&cell); real != nullptr && std::isfinite(*real)) return *real;
  return std::nullopt;
}

/// The scale in which the median of the column's non-zero cells is at least 1; {1, ""} for hints without units.
Scale column_scale(const Table& table, std::size_t column) {
  const HintRow& hint = row(table.columns[column].hint);
  if (hint.scales[0].name.empty()) return {1, ""};
  std::vector<double> sizes;
  for (const auto& cells : table.rows)
    if (const auto value = number(cells[column]); value && *value != 0) sizes.push_back(std::abs(*value));
  Scale last = hint.scales[0];
  if (sizes.empty()) {  // nothing but zeros says nothing of size: the base unit
    const auto base =
        std::find_if(hint.scales.begin(), hint.scales.end(), [](const Scale& one) { return one.unit == 1; });
    return base == hint.scales.end() ? last : *base;
  }
  std::nth_element(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2), sizes.end());
  const double median = sizes[sizes.size() / 2];
  for (const Scale& scale : hint.scales) {
    if (scale.name.empty()) break;
    last = scale;
    if (median >= scale.unit) break;
  }
  return last;
}

std::string cell_text(const Cell& cell, Hint hint, double scale) {
  if (const auto* words = std::get_if<std::string>(&cell)) return printable(*words);
  if (const auto* whole = std::get_if<std::int64_t>(&cell); whole != nullptr && scale == 1 && hint != Hint::number)
    return hint == Hint::integer || hint == Hint::text ? std::to_string(*whole) : with_commas(*whole);
  const auto value = number(cell);
  if (!value) return {};
  // What is not all is not to be read as all.
  if (hint == Hint::fraction && *value < 1 && *value > 0.999) return three_figures(0.999 / scale);
  return three_figures(*value / scale);
}

std::string csv_text(std::string_view words) {
  if (!words.empty() && words.find_first_of(",\"\r\n") == words.npos) return std::string(words);
  std::string out = "\"";
  for (const char c : words) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string csv_cell(const Cell& cell) {
  if (const auto* words = std::get_if<std::string>(&cell)) return csv_text(*words);
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return std::to_string(*whole);
  const auto value = number(cell);
  return value ? fmt::format("{}", *value) : std::string();
}

Json json_cell(const Cell& cell) {
  if (const auto* words = std::get_if<std::string>(&cell)) return *words;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return *whole;
  const auto value = number(cell);
  return value ? Json(*value) : Json();
}

std::string markdown_text(std::string_view words) {
  std::string out;
  for (const char c : words) {
    if (c == '|' || c == '\\' || c == '*' || c == '_' || c == '`' || c == '<') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string full_key(const Column& column) { return column.key + std::string(row(column.hint).suffix); }

std::size_t place_of_column(const Table& table, std::string_view key) {
  const auto found =
      std::find_if(table.columns.begin(), table.columns.end(), [&](const Column& column) { return column.key == key; });
  assert(found != table.columns.end());
  return static_cast<std::size_t>(found - table.columns.begin());
}

ShownColumn shown(const Table& table, std::size_t column) {
  const Column& c = table.columns[column];
  const Scale scale = column_scale(table, column);
  ShownColumn out;
  out.heading = printable(c.heading) + (scale.name.empty() ? "" : fmt::format(" ({})", scale.name));
  out.numeric = row(c.hint).numeric;
  out.right = c.align == Align::right || (c.align == Align::by_hint && out.numeric);
  for (const auto& cells : table.rows) out.cells.push_back(cell_text(cells[column], c.hint, scale.unit));
  return out;
}

std::string footer(const Table& table, std::size_t rows_shown) {
  const auto total = static_cast<std::int64_t>(table.rows.size()) + table.left_out;
  const std::int64_t hidden = total - static_cast<std::int64_t>(rows_shown);
  if (hidden == 0) return {};
  const std::string how = table.to_see_all.empty() ? "" : fmt::format(": {} shows all", table.to_see_all);
  return fmt::format("{}, {} not shown{}", counted(total, "row"), with_commas(hidden), how);
}

std::string markdown(const Table& table) {
  std::string out = table.title.empty() ? "" : fmt::format("**{}**\n\n", markdown_text(printable(table.title)));
  std::vector<ShownColumn> columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i) columns.push_back(shown(table, i));
  out += "|";
  for (const ShownColumn& column : columns) out += fmt::format(" {} |", markdown_text(column.heading));
  out += "\n|";
  for (const ShownColumn& column : columns) out += column.right ? " --: |" : " :-- |";
  out += "\n";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    out += "|";
    for (const ShownColumn& column : columns) {
      const std::string words = markdown_text(column.cells[r]);
      out += table.best == r && !words.empty() ? fmt::format(" **{}** |", words) : fmt::format(" {} |", words);
    }
    out += "\n";
  }
  const std::string note = footer(table, table.rows.size());
  return note.empty() ? out : out + "\n" + note + "\n";
}

std::string csv(const Table& table) {
  std::string out;
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    out += (i == 0 ? "" : ",") + csv_text(full_key(table.columns[i]));
  out += "\n";
  for (const auto& cells : table.rows) {
    for (std::size_t i = 0; i < cells.size(); ++i) out += (i == 0 ? "" : ",") + csv_cell(cells[i]);
    out += "\n";
  }
  return out;
}

Json records(const Table& table) {
  Json out = Json::Array();
  for (const auto& cells : table.rows) {
    Json record = Json::Object();
    for (std::size_t i = 0; i < table.columns.size(); ++i) record[full_key(table.columns[i])] = json_cell(cells[i]);
    out.push_back(std::move(record));
  }
  return out;
}

std::string json(const Table& table) { return json_text(records(table), 1); }

std::string document(const DocumentHead& head, const Table& table) {
  Json out;
  out["schema"] = head.schema;
  out["tool"] = head.tool;
  out["device"] = head.device.empty() ? Json() : Json(head.device);
  out["command"] = head.command;
  out["results"] = records(table);
  return json_text(out, 1) + "\n";
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string escaped_lines(std::string_view text) {
  std::string out;
  for (const std::string_view line : split(text, '\n')) out += escaped(line) + "\n";
  out.pop_back();
  return out;
}

void take_column(Table& table, std::size_t column) {
  const auto at = static_cast<std::ptrdiff_t>(column);
  table.columns.erase(table.columns.begin() + at);
  for (auto& row : table.rows) row.erase(row.begin() + at);
}

std::string take_equal_columns(Table& table) {
  std::string words;
  if (table.rows.size() < 2) return words;
  for (std::size_t c = table.columns.size(); c-- > 1;) {
    const Cell& first = table.rows[0][c];
    if (std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) { return row[c] != first; })) continue;
    const ShownColumn column = shown(table, c);
    if (const std::string& value = column.cells[0]; !value.empty())
      words = fmt::format("{} {}{}{}", column.heading, value, words.empty() ? "" : ", ", words);
    take_column(table, c);
  }
  return words;
}

}  // namespace tailor::report
