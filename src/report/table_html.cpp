// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The HTML view of Table. In: a Table. Out: a <table> with the headings and rounding of the
// terminal, and each raw value beside its cell so that the script can sort. Called by the
// page.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/table.h"
#include "report/width.h"

namespace tailor::report {

namespace {

constexpr int long_text = 36;  ///< columns; wider text cells may wrap

/// What narrow terminals leave out first is left out on paper.
bool is_minor(const Column& column) { return column.sacrifice >= 6; }

/// The value a script sorts by: shortest round-trip digits, or the words; "" sorts last.
std::string sort_value(const Cell& cell) {
  if (const auto* words = std::get_if<std::string>(&cell)) return escaped(*words);
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&cell); real != nullptr && std::isfinite(*real))
    return fmt::format("{}", *real);
  return {};
}

}  // namespace

std::string html(const Table& table, bool sortable, const std::vector<std::string>& links) {
  std::vector<ShownColumn> columns;
  std::vector<std::string_view> classes;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    columns.push_back(shown(table, i));
    int widest = 0;
    for (const std::string& cell : columns.back().cells) widest = std::max(widest, display_width(cell));
    const bool minor = is_minor(table.columns[i]);
    classes.push_back(columns.back().right ? minor ? " class=\"n minor\"" : " class=\"n\""
                      : widest > long_text ? minor ? " class=\"long minor\"" : " class=\"long\""
                      : minor              ? " class=\"minor\""
                                           : "");
  }
  std::string out = fmt::format("<div class=\"scroll\"><table{}>\n", sortable ? " class=\"sortable\"" : "");
  if (!table.title.empty()) out += fmt::format("<caption>{}</caption>\n", escaped(table.title));
  out += "<thead><tr>";
  for (std::size_t i = 0; i < columns.size(); ++i)
    out += fmt::format("<th scope=\"col\"{}>{}</th>", classes[i], escaped(columns[i].heading));
  out += "</tr></thead>\n<tbody>\n";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    out += table.best == r ? "<tr class=\"best\">" : "<tr>";
    for (std::size_t i = 0; i < columns.size(); ++i) {
      std::string words = escaped(columns[i].cells[r]);
      if (i == 0 && r < links.size() && !links[r].empty())
        words = fmt::format("<a href=\"{}\">{}</a>", escaped(links[r]), words);
      out += fmt::format("<td{} data-v=\"{}\">{}</td>", classes[i], sort_value(table.rows[r][i]), words);
    }
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
  if (const std::string note = footer(table, table.rows.size()); !note.empty())
    out += fmt::format("<p class=\"note\">{}</p>\n", escaped(note));
  return out;
}

}  // namespace tailor::report
