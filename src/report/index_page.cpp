// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The index of several reports. In: a Summary and a link for each. Out: one HTML page. Called by the command that
// writes reports to a folder. The question and the verdict lead; then come the speed-ups of all models on one axis, the
// answer of each page, and all strategies in one sortable table.
#include "report/index_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "report/assets.h"
#include "report/overview.h"
#include "report/page.h"

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

namespace {

/// Bars of all pages on one axis, each under the name of its page.
std::string all_speedups(const std::vector<IndexEntry>& entries) {
  std::vector<SpeedupPanel> panels;
  for (const IndexEntry& entry : entries) {
    SpeedupPanel panel = speedup_panel(*entry.summary);
    if (panel.bars.empty()) continue;
    panel.title = fmt::format("{} on {}, against {}", entry.summary->manifest.model, entry.summary->manifest.device,
                              entry.summary->baseline);
    panel.link = entry.file;
    panels.push_back(std::move(panel));
  }
  if (panels.empty()) return {};
  return figure(speedup_chart(panels),
                "How many times faster than the baseline each strategy is, by its time of one run. The fastest is in "
                "bold; beside the first bar stands what the times are.");
}

}  // namespace

std::string index_page(const std::vector<IndexEntry>& entries) {
  const std::string count = counted(entries.size(), "report");
  const Summary* first = entries.empty() ? nullptr : entries[0].summary;
  const std::string asked = first == nullptr || first->asked.empty() ? count : first->asked;
  std::string answers = "<section id=\"pages\">\n<h2>Pages</h2>\n";
  std::vector<Summary> summaries;
  for (const IndexEntry& entry : entries) {
    const Answer said = answer(*entry.summary);
    answers += fmt::format("<h3><a href=\"{}\">{} on {}</a></h3>\n<p>{}</p>\n", escaped(entry.file),
                           escaped(entry.summary->manifest.model), escaped(entry.summary->manifest.device),
                           escaped(said.head));
    if (!said.rest.empty()) answers += fmt::format("<p class=\"note\">{}</p>\n", escaped(said.rest));
    summaries.push_back(*entry.summary);
  }
  answers += "</section>\n";
  return page_head(asked) + "<main class=\"index\">\n<header>\n" + question_and_verdict(asked, "", first) +
         "</header>\n" +
         side_by_side("<section id=\"speedups\">\n<h2>Speed-up by model and strategy</h2>\n" + all_speedups(entries) +
                          "</section>\n",
                      answers) +
         "<section id=\"strategies\">\n<h2>All strategies</h2>\n" + html(all_strategies(summaries), true) +
         "</section>\n</main>\n" + fmt::format("<script>\n{}\n</script>\n</body>\n</html>\n", page_js);
}

}  // namespace tailor::report
