// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The index of several reports. In: a Summary and a link for each. Out: one HTML page. Called by the command that
// writes reports to a folder. A section per report has its answer; below them all strategies stand in one sortable
// table.
#include "report/index_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/assets.h"
#include "report/overview.h"

namespace tailor::report {

Table all_strategies(const std::vector<Summary>& summaries) {
  Table all;
  all.columns = {{"model", "model", Hint::text, 0}, {"device", "device", Hint::text, 0}};
  std::vector<Table> tables;
  for (const Summary& summary : summaries) {
    tables.push_back(strategy_table(summary));
    for (const Column& column : tables.back().columns)
      if (std::none_of(all.columns.begin(), all.columns.end(), [&](const Column& c) { return c.key == column.key; }))
        all.columns.push_back(column);
  }
  for (std::size_t i = 0; i < summaries.size(); ++i)
    for (const std::vector<Cell>& row : tables[i].rows) {
      std::vector<Cell>& out = all.rows.emplace_back(all.columns.size());
      out[0] = summaries[i].manifest.model;
      out[1] = summaries[i].manifest.device;
      for (std::size_t c = 0; c < row.size(); ++c)
        for (std::size_t at = 2; at < all.columns.size(); ++at)
          if (all.columns[at].key == tables[i].columns[c].key) out[at] = row[c];
    }
  return all;
}

std::string index_page(const std::vector<IndexEntry>& entries) {
  const std::string title = fmt::format("{} reports", entries.size());
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>\n{}\n</style>\n</head>\n<body>\n"
      "<main>\n<header>\n<h1>{}</h1>\n</header>\n",
      title, page_css, title);
  std::vector<Summary> summaries;
  for (const IndexEntry& entry : entries) {
    out += fmt::format("<section>\n<h2><a href=\"{}\">{} on {}</a></h2>\n<p>{}</p>\n</section>\n", escaped(entry.file),
                       escaped(entry.summary->manifest.model), escaped(entry.summary->manifest.device),
                       escaped(answer(*entry.summary)));
    summaries.push_back(*entry.summary);
  }
  out += "<section>\n<h2>All strategies</h2>\n" + html(all_strategies(summaries), true) + "</section>\n";
  return out + fmt::format("</main>\n<script>\n{}\n</script>\n</body>\n</html>\n", page_js);
}

}  // namespace tailor::report
