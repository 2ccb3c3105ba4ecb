// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Table: the one shape in which Tailor shows rows of numbers. Cells hold raw values in base units (seconds, bytes,
// fractions 0-1); every output is a view of the same struct, so terminal, Markdown, CSV, JSON and HTML cannot disagree.
// For people a column picks one scale for all its cells and says so in its heading ("time (us)"); for programs the key
// carries the base unit ("time_s") and the value is never rounded. Terminal layout is in table_terminal.cpp, HTML in
// table_html.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tailor {
struct Json;
}

namespace tailor::report {

/// What a column's values are. Decides unit, scale, rounding and the suffix of the key.
enum class Hint : std::uint8_t {
  text,
  integer,   ///< shown as it is (registers, threads)
  count,     ///< shown with thousands separators
  number,    ///< a plain double, three significant figures
  seconds,   ///< key suffix _s
  bytes,     ///< key suffix _bytes
  rate,      ///< bytes per second, key suffix _bytes_per_s
  flops,     ///< floating operations, key suffix _flops
  fraction,  ///< 0-1, shown as %, key suffix _fraction
  ratio,     ///< "1.23" times something, key suffix _ratio
};

enum class Align : std::uint8_t { by_hint, left, right };

/// Null, text, whole number, real number. A real that is not finite is shown as null everywhere.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double>;

struct Column {
  std::string key;      ///< snake_case without unit: "time"
  std::string heading;  ///< for people, without unit: "time"
  Hint hint = Hint::text;
  int sacrifice = 0;  ///< on a narrow terminal the highest goes first; 0 stays
  Align align = Align::by_hint;
  bool whole =
      false;  ///< a sentence, which says nothing when cut: stays while a cell has one, whatever its `sacrifice`
};

struct Table {
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  ///< each as long as `columns`
  std::optional<std::size_t> best;      ///< row to mark
  std::int64_t left_out = 0;            ///< rows that exist but were not handed over
  std::string to_see_all;               ///< what to type to see them: "--top 0"
};

/// How a terminal shows a table. `width` in columns, at least 1; `max_rows` 0 shows all.
struct Screen {
  int width = 100;
  bool colour = false;
  std::size_t max_rows = 0;
  std::stop_token stop = {};  ///< looked at row by row: a table may have half a million
};

/// Aligned columns at decimal points, three significant figures; no line is wider than the screen.
std::string terminal(const Table& table, const Screen& screen);
/// A pipe table, scaled like the terminal's, the best row in bold; a footer when rows were left out.
std::string markdown(const Table& table);
/// RFC 4180 with "\n"; keys as heading, raw values, null as nothing and the empty text as "".
std::string csv(const Table& table);
/// A JSON array of records, raw values, null for absent; and its text, a line per value.
Json records(const Table& table);
std::string json(const Table& table);
/// A <table>; each cell carries its raw value in data-v so that a script can sort it. `sortable` adds the class.
/// `links`, one per row or none at all: where its first cell leads; empty: nowhere.
std::string html(const Table& table, bool sortable = false, const std::vector<std::string>& links = {});

/// Head of a JSON document.
struct DocumentHead {
  std::string schema;  ///< "tailor.plans/1"
  std::string tool;    ///< "tailor 0.1.0 (rev)"
  std::string command;
  std::string device;  ///< empty: null
};
/// {"schema", "tool", "device", "command", "results": [records]} and a newline.
std::string document(const DocumentHead& head, const Table& table);

/// Key with the suffix of its unit: "time_s".
std::string full_key(const Column& column);
/// Where a row's cell of this column stands. The table has the column.
std::size_t place_of_column(const Table& table, std::string_view key);

/// How one column is shown to people: heading with unit, and one text per row ("" for null).
struct ShownColumn {
  std::string heading;
  std::vector<std::string> cells;
  bool numeric = false;
  bool right = false;
};
ShownColumn shown(const Table& table, std::size_t column);
/// Takes out one column.
void take_column(Table& table, std::size_t column);
/// Takes out the columns that say the same in all rows, and returns them in words: "library calls 99, at least 76". The
/// first column stays, and so does everything of a table with one row; empty columns are not told.
std::string take_equal_columns(Table& table);
/// The rows that were handed over of all there are: "57 rows, 37 not shown: --top 0 shows all"; "" when all are shown.
std::string footer(const Table& table, std::size_t rows_shown);

/// &, <, >, " and ' as entities, control characters as spaces: safe in HTML text, attributes and SVG.
std::string escaped(std::string_view text);
/// The same, with line breaks kept: for <pre>.
std::string escaped_lines(std::string_view text);

}  // namespace tailor::report
