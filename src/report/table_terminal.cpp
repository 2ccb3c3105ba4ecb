// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The terminal's view of Table. Columns stand two spaces apart under a rule; numbers line up at their decimal points.
// When the screen is too narrow, text columns shrink first (the middle gives way), then columns go in the order of
// their `sacrifice`, and the footer names what went. The best row has a mark before it, so colour never carries meaning
// alone.
#include <fmt/format.h>

#include <algorithm>

#include "report/table.h"
#include "report/width.h"

namespace tailor::report {

namespace {

constexpr int gap = 2;
constexpr int mark_width = 2;
constexpr int smallest_text = 12;  ///< a text column is not squeezed below this while another column may go

struct ColumnLayout {
  std::size_t column;
  ShownColumn view;
  int width = 0;
};

/// Pads the numbers of a column so that their decimal points stand under one another.
void align_points(ShownColumn& column) {
  std::size_t after = 0;
  const auto tail = [](const std::string& cell) {
    const std::size_t point = cell.find_first_of(".e");
    return point == cell.npos ? 0 : cell.size() - point;
  };
  for (const std::string& cell : column.cells) after = std::max(after, tail(cell));
  for (std::string& cell : column.cells)
    if (!cell.empty()) cell.append(after - tail(cell), ' ');
}

/// The rows to show: the first ones, and the best in place of the last when it lies behind.
std::vector<std::size_t> visible_rows(const Table& table, std::size_t max_rows) {
  const std::size_t count = max_rows == 0 ? table.rows.size() : std::min(max_rows, table.rows.size());
  std::vector<std::size_t> rows(count);
  for (std::size_t i = 0; i < count; ++i) rows[i] = i;
  if (count > 0 && table.best && *table.best >= count && *table.best < table.rows.size()) rows.back() = *table.best;
  return rows;
}

int natural_width(const ShownColumn& column) {
  int width = display_width(column.heading);
  for (const std::string& cell : column.cells) width = std::max(width, display_width(cell));
  return width;
}

int total_width(const std::vector<ColumnLayout>& columns, bool marked) {
  int width = marked ? mark_width : 0;
  for (std::size_t i = 0; i < columns.size(); ++i) width += columns[i].width + (i == 0 ? 0 : gap);
  return width;
}

/// Takes columns from the widest text columns until the line fits or all are at `smallest`.
void squeeze(std::vector<ColumnLayout>& columns, bool marked, int screen, int smallest) {
  for (int over = total_width(columns, marked) - screen; over > 0; --over) {
    ColumnLayout* widest = nullptr;
    for (ColumnLayout& laid : columns)
      if (!laid.view.numeric && laid.width > smallest && (widest == nullptr || laid.width > widest->width))
        widest = &laid;
    if (widest == nullptr) return;
    --widest->width;
  }
}

/// Drops columns until the rest fits; returns the headings of the dropped ones in table order.
std::vector<std::string> fit(std::vector<ColumnLayout>& columns, const Table& table, bool marked, int screen) {
  std::vector<std::string> dropped;
  squeeze(columns, marked, screen, smallest_text);
  while (total_width(columns, marked) > screen && columns.size() > 1) {
    auto victim = columns.end();
    for (auto laid = columns.begin() + 1; laid != columns.end(); ++laid)
      if (const int now = table.columns[laid->column].sacrifice;
          now > 0 && (victim == columns.end() || now >= table.columns[victim->column].sacrifice))
        victim = laid;
    if (victim == columns.end()) {
      squeeze(columns, marked, screen, 1);
      if (total_width(columns, marked) <= screen) break;
      victim = columns.end() - 1;
    }
    dropped.insert(dropped.begin(), table.columns[victim->column].heading);
    columns.erase(victim);
    for (ColumnLayout& laid : columns) laid.width = natural_width(laid.view);
    squeeze(columns, marked, screen, smallest_text);
  }
  squeeze(columns, marked, screen, 1);
  return dropped;
}

std::string padded(const std::string& words, int width, bool right) {
  const std::string text = elided(words, width);
  const std::string space(static_cast<std::size_t>(std::max(0, width - display_width(text))), ' ');
  return right ? space + text : text + space;
}

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string painted(const std::string& line, std::string_view code, bool colour) {
  return colour ? fmt::format("\x1b[{}m{}\x1b[0m", code, line) : line;
}

}  // namespace

std::string terminal(const Table& table, const Screen& screen) {
  const int width = std::max(1, screen.width);
  const bool marked = table.best.has_value() && width > mark_width;
  std::vector<ColumnLayout> columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    ColumnLayout laid{i, shown(table, i), 0};
    if (laid.view.numeric) align_points(laid.view);
    laid.width = natural_width(laid.view);
    columns.push_back(std::move(laid));
  }
  const std::vector<std::string> dropped = fit(columns, table, marked, width);

  std::string out;
  const auto emit = [&](const std::string& line, std::string_view code = "") {
    const std::string fitted = elided(without_trailing_spaces(line), width);
    out += (code.empty() ? fitted : painted(fitted, code, screen.colour)) + "\n";
  };
  const auto wrap = [&](const std::string& note, std::string_view code) {
    for (const std::string& line : wrapped(note, width)) emit(line, code);
  };
  if (!table.title.empty()) wrap(printable(table.title), "1");
  if (columns.empty()) return out;
  const std::string indent(marked ? mark_width : 0, ' ');
  std::string head = indent;
  std::string rule = indent;
  for (const ColumnLayout& laid : columns) {
    const std::string space(&laid == &columns.front() ? 0 : gap, ' ');
    head += space + padded(laid.view.heading, laid.width, laid.view.right);
    rule += space;
    for (int i = 0; i < laid.width; ++i) rule += "─";
  }
  emit(head);
  emit(rule, "2");
  const std::vector<std::size_t> rows = visible_rows(table, screen.max_rows);
  for (const std::size_t r : rows) {
    std::string line = marked ? (table.best == r ? "▸ " : "  ") : "";
    for (const ColumnLayout& laid : columns)
      line += std::string(&laid == &columns.front() ? 0 : gap, ' ') +
              padded(laid.view.cells[r], laid.width, laid.view.right);
    emit(line, table.best == r ? "1" : "");
  }
  if (const std::string note = footer(table, rows.size()); !note.empty()) wrap(note, "2");
  if (!dropped.empty())
    wrap(fmt::format("not shown for lack of width: {} (a wider terminal or --format csv shows all)",
                     printable(fmt::format("{}", fmt::join(dropped, ", ")))),
         "2");
  return out;
}

}  // namespace tailor::report
