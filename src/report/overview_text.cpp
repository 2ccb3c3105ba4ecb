// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The overview at the end of a run and the Markdown file: the same sections in the same order, one through terminal(),
// one through markdown().
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/advice.h"
#include "report/overview.h"
#include "report/width.h"

namespace tailor::report {

namespace {

struct Section {
  std::string title;
  Table table;
};

std::vector<Section> sections(const Summary& summary) {
  std::vector<Section> all{{"strategies", strategy_table(summary)},
                           {"groups of " + summary.chosen, group_table(summary)},
                           {"plans not lowered, by rule", rejection_table(summary)},
                           {"whole models, measured in turns", module_table(summary)},
                           {"measured on a GPU", measured_table(summary)},
                           {"library calls", library_table(summary)}};
  std::erase_if(all, [](const Section& section) { return section.table.rows.empty(); });
  return all;
}

}  // namespace

std::string overview(const Summary& summary, const Screen& screen) {
  std::string out;
  const int width = std::max(1, screen.width);
  const auto words = [&](const std::string& text) {
    for (const std::string& line : wrapped(printable(text), width)) out += line + "\n";
  };
  words(answer(summary));
  for (Section& section : sections(summary)) {
    section.table.title = section.title;
    out += "\n" + terminal(section.table, screen);
  }
  const std::vector<std::string> lines = advice(summary);
  if (!lines.empty()) out += "\n";
  for (const std::string& line : lines) {
    std::string_view lead = "- ";
    for (const std::string& part : wrapped(printable(line), std::max(1, width - 2))) {
      out += elided(std::string(lead) + part, width) + "\n";
      lead = "  ";
    }
  }
  for (const std::string& warning : summary.warnings) words("warning: " + warning);
  return out;
}

std::string markdown(const Summary& summary) {
  std::string out = fmt::format("# {}\n\n{}\n\n", printable(summary.question), printable(answer(summary)));
  out += markdown(manifest_table(summary)) + "\n";
  for (const Section& section : sections(summary))
    out += fmt::format("## {}\n\n{}\n", printable(section.title), markdown(section.table));
  for (const GroupSummary& group : summary.groups) {
    if (group.best.empty()) continue;
    out += fmt::format("## best plans of {} `{}`\n\n{}\n", printable(group.name), printable(group.id).substr(0, 10),
                       markdown(plan_table(group)));
  }
  const std::vector<std::string> lines = advice(summary);
  if (!lines.empty()) out += "## what to look at next\n\n";
  for (const std::string& line : lines) out += "- " + printable(line) + "\n";
  for (const std::string& warning : summary.warnings) out += "- warning: " + printable(warning) + "\n";
  return out;
}

}  // namespace tailor::report
