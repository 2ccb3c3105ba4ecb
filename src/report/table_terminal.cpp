// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The terminal's view of Table. In: a table and how wide the screen is. Out: lines no wider than that. Called by every
// command that shows results and by the overview of a report.
//
// Columns stand two spaces apart under a rule; numbers line up at their decimal points. When the screen is too narrow,
// headings and texts go on in the line below, broken at spaces: nothing is cut, so names can be copied and sentences
// read. Words stay whole and a text takes a few lines at most. Then the columns that only add detail go, in the order
// of their `sacrifice`, and the footer names what went. A column without one qualifies the others and is never dropped:
// where those do not fit either, each row becomes a record, a line per column, and nothing is left out. The best row
// has a mark before it, so colour never carries meaning alone.
#include <fmt/format.h>

#include <algorithm>

#include "base/stop.h"
#include "base/text.h"
#include "report/table.h"
#include "report/width.h"

namespace tailor::report {

namespace {

constexpr int gap = 2;
constexpr int mark_width = 2;
constexpr int longest_whole_word = 32;  ///< a longer one may be broken
constexpr int most_lines = 8;           ///< that a cell may take, as far as its words allow

struct ColumnLayout {
  std::size_t column;
  ShownColumn view;
  int natural = 0;   ///< what its widest cell takes
  int smallest = 0;  ///< what it may be squeezed to
  int sacrifice = 0;
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

int longest_word(std::string_view text) {
  int longest = 0;
  for (const std::string_view word : split(text, ' ')) longest = std::max(longest, display_width(word));
  return longest;
}

/// The least width of a column: its heading may go on below at spaces, and so may texts. Numbers stay whole, and so do
/// short texts, which are names; a sentence is given room to be read.
int smallest_width(const ShownColumn& column, int natural, bool sentence, int screen) {
  const int room = sentence ? screen / 3 : std::clamp(screen / 4, 12, 24);
  int width = longest_word(column.heading);
  for (const std::string& cell : column.cells)
    width = std::max(width, column.numeric ? display_width(cell) : longest_word(cell));
  if (column.numeric) return width;
  width = std::min(width, longest_whole_word);
  return std::min(natural, std::max({width, room, (natural + most_lines - 1) / most_lines}));
}

/// Takes width from the widest text columns until the line fits or all are at their smallest.
void squeeze(std::vector<ColumnLayout>& columns, bool marked, int screen) {
  for (ColumnLayout& laid : columns) laid.width = laid.natural;
  for (int over = total_width(columns, marked) - screen; over > 0; --over) {
    ColumnLayout* widest = nullptr;
    for (ColumnLayout& laid : columns)
      if (laid.width > laid.smallest && (widest == nullptr || laid.width > widest->width)) widest = &laid;
    if (widest == nullptr) return;
    --widest->width;
  }
}

/// Drops columns until the rest fits or only those are left that qualify the others; returns the headings of the
/// dropped ones in table order.
std::vector<std::string> fit(std::vector<ColumnLayout>& columns, const Table& table, bool marked, int screen) {
  std::vector<std::string> dropped;
  squeeze(columns, marked, screen);
  while (total_width(columns, marked) > screen) {
    auto victim = columns.end();
    for (auto laid = columns.begin(); laid != columns.end(); ++laid)
      if (laid->sacrifice > 0 && (victim == columns.end() || laid->sacrifice >= victim->sacrifice)) victim = laid;
    if (victim == columns.end()) break;
    dropped.insert(dropped.begin(), table.columns[victim->column].heading);
    columns.erase(victim);
    squeeze(columns, marked, screen);
  }
  return dropped;
}

std::string padded(const std::string& text, int width, bool right) {
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

/// Lines as they come out: no wider than the screen, painted where there is colour.
class Lines {
 public:
  explicit Lines(const Screen& screen)
      : width_(std::max(1, screen.width)), colour_(screen.colour), stop_(screen.stop) {}
  int width() const { return width_; }
  const std::stop_token& stop() const { return stop_; }
  void line(const std::string& text, std::string_view code = "") {
    const std::string fitted = elided(without_trailing_spaces(text), width_);
    out_ += (code.empty() ? fitted : painted(fitted, code, colour_)) + "\n";
  }
  void note(const std::string& text, std::string_view code) {
    for (const std::string& one : wrapped(text, width_)) line(one, code);
  }
  std::string take() { return std::move(out_); }

 private:
  int width_;
  bool colour_;
  std::stop_token stop_;
  std::string out_;
};

/// The texts of a row, each under its column, on as many lines as the longest takes; `low` puts short ones at the
/// bottom, where headings stand.
std::vector<std::string> row_lines(const std::vector<ColumnLayout>& columns, const std::vector<std::string_view>& texts,
                                   bool low) {
  std::vector<std::vector<std::string>> cells;
  std::size_t height = 1;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const bool fits = display_width(texts[i]) <= columns[i].width;
    cells.push_back(fits ? std::vector{std::string(texts[i])} : wrapped(texts[i], columns[i].width));
    height = std::max(height, cells.back().size());
  }
  std::vector<std::string> lines(height);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::size_t above = low ? height - cells[i].size() : 0;
    for (std::size_t line = 0; line < height; ++line) {
      const bool inside = line >= above && line - above < cells[i].size();
      lines[line] += std::string(i == 0 ? 0 : gap, ' ') +
                     padded(inside ? cells[i][line - above] : "", columns[i].width, columns[i].view.right);
    }
  }
  return lines;
}

void write_columns(Lines& out, const Table& table, const std::vector<ColumnLayout>& columns,
                   const std::vector<std::size_t>& rows, bool marked) {
  const std::string unmarked(marked ? mark_width : 0, ' ');
  std::vector<std::string_view> texts;
  std::string rule = unmarked;
  for (const ColumnLayout& laid : columns) {
    texts.push_back(laid.view.heading);
    rule += std::string(&laid == &columns.front() ? 0 : gap, ' ');
    for (int i = 0; i < laid.width; ++i) rule += "─";
  }
  for (const std::string& line : row_lines(columns, texts, true)) out.line(unmarked + line);
  out.line(rule, "2");
  for (const std::size_t r : rows) {
    stop_if_asked(out.stop());
    for (std::size_t i = 0; i < columns.size(); ++i) texts[i] = columns[i].view.cells[r];
    std::string before = marked && table.best == r ? "▸ " : unmarked;
    for (const std::string& line : row_lines(columns, texts, false)) {
      out.line(before + line, table.best == r ? "1" : "");
      before = unmarked;
    }
  }
}

/// Every row as lines "heading  value", its first column as the title, what it has no value for left out; a value that
/// is too long goes on below itself.
void write_records(Lines& out, const Table& table, const std::vector<ColumnLayout>& columns,
                   const std::vector<std::size_t>& rows, bool marked) {
  const std::string indent(marked ? mark_width : 0, ' ');
  int headings = 0;
  for (const ColumnLayout& laid : columns) headings = std::max(headings, display_width(laid.view.heading));
  headings = std::min(headings, out.width() / 2);
  const int room = std::max(1, out.width() - headings - gap - (marked ? mark_width : 0));
  for (const std::size_t r : rows) {
    stop_if_asked(out.stop());
    if (r != rows.front()) out.line("");
    for (const ColumnLayout& laid : columns) {
      const bool first = &laid == &columns.front();
      if (!first && trim(laid.view.cells[r]).empty()) continue;
      std::string before =
          (first && table.best == r ? "▸ " : indent) + padded(elided(laid.view.heading, headings), headings, false);
      for (const std::string& part : wrapped(trim(laid.view.cells[r]), room)) {
        out.line(before + std::string(gap, ' ') + part, first ? "1" : "");
        before = indent + std::string(static_cast<std::size_t>(headings), ' ');
      }
    }
  }
}

}  // namespace

std::string terminal(const Table& table, const Screen& screen) {
  Lines out(screen);
  const bool marked = table.best.has_value() && out.width() > mark_width;
  std::vector<ColumnLayout> all;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    stop_if_asked(screen.stop);
    ColumnLayout laid{i, shown(table, i)};
    if (laid.view.numeric) align_points(laid.view);
    laid.natural = natural_width(laid.view);
    const Column& column = table.columns[i];
    const bool says = std::any_of(laid.view.cells.begin(), laid.view.cells.end(),
                                  [](const std::string& cell) { return !cell.empty(); });
    laid.smallest = smallest_width(laid.view, laid.natural, column.whole && says, out.width());
    laid.sacrifice = column.whole && says ? 0 : column.sacrifice;
    all.push_back(std::move(laid));
  }
  if (!table.title.empty()) out.note(printable(table.title), "1");
  if (all.empty()) return out.take();
  const std::vector<std::size_t> rows = visible_rows(table, screen.max_rows);
  std::vector<ColumnLayout> columns = all;
  const std::vector<std::string> dropped = fit(columns, table, marked, out.width());
  const bool fits = total_width(columns, marked) <= out.width();
  if (fits || rows.empty())
    write_columns(out, table, columns, rows, marked);
  else
    write_records(out, table, all, rows, marked);
  if (const std::string note = footer(table, rows.size()); !note.empty()) out.note(note, "2");
  if (fits && !dropped.empty())
    out.note(fmt::format("not shown for lack of width: {} (a wider terminal or --format csv shows all)",
                         printable(fmt::format("{}", fmt::join(dropped, ", ")))),
             "2");
  return out.take();
}

}  // namespace tailor::report
