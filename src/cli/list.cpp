// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor list: the rows of Tailor's own tables, the commands among them. In: the name of a table. Out: its rows on
// stdout. The tables are study's (study/tables/catalogue.h); only the commands are known here. A name that no table has
// is an error with the nearest.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "study/tables/catalogue.h"

namespace tailor::cli {

namespace {

void list_commands(const std::filesystem::path&, report::Table& table) {
  table.columns = {column("command", "command"), column("meaning", "what it does")};
  for (const CommandRow& row : commands()) table.rows.push_back({std::string(row.name), std::string(row.what)});
}

}  // namespace

void run_list(const ListOptions& options, const Context& context) {
  std::vector<study::CatalogueRow> rows(study::catalogue().begin(), study::catalogue().end());
  rows.push_back({"commands", list_commands});
  std::vector<std::string_view> known;
  for (const study::CatalogueRow& row : rows) {
    known.push_back(row.name);
    if (row.name != options.what) continue;
    CommandOutput answer{fmt::format("tailor.list.{}/1", row.name), "", {{options.what, {}}}, ""};
    row.fill(context.data, answer.sections.front().table);
    return show(context, answer);
  }
  throw Error(Fault::usage, fmt::format("found '{}', expected one of {}", options.what, fmt::join(known, ", ")),
              suggestion(options.what, known));
}

}  // namespace tailor::cli
