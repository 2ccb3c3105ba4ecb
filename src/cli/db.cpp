// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The db commands: a few words around what the store does itself.
#include "cli/db.h"

#include <fmt/format.h>

#include <system_error>

#include "base/error.h"
#include "base/text.h"
#include "report/table.h"
#include "store/store.h"

namespace tailor::cli {

namespace {

void show(const DbOptions& options, const report::Table& table) {
  switch (options.format) {
    case Format::table:
      return options.out(report::terminal(table, {options.width, options.colour, 0}));
    case Format::md:
      return options.out(report::markdown(table));
    case Format::csv:
      return options.out(report::csv(table));
    case Format::json:
      return options.out(report::document({"tailor.db/1", "", "", ""}, table));
  }
}

}  // namespace

int run_db_info(const DbOptions& options, Talk& talk) {
  const store::Store store = store::Store::open_read_only(options.database);
  report::Table table;
  table.columns = {{"table", "table", report::Hint::text, 0}, {"rows", "rows", report::Hint::count, 0}};
  for (const store::TableSize& size : store.sizes()) table.rows.push_back({size.table, size.rows});
  show(options, table);
  for (const store::RunRow& run : store.runs())
    talk.note(fmt::format("{} {}: {} ({})", run.started_at, run.outcome, run.command, run.tool));
  return 0;
}

int run_db_merge(const DbOptions& options, const std::vector<std::filesystem::path>& from, Talk& talk) {
  for (const std::filesystem::path& source : from) {
    std::error_code unknown;  // a target that is not there yet is the same as nothing
    if (std::filesystem::equivalent(source, options.database, unknown))
      throw Error(Fault::usage, Position{source.string(), 0, 0}, "a database cannot be merged into itself",
                  "name the target first, then the others");
    if (!std::filesystem::exists(source))
      throw Error(Fault::missing, Position{source.string(), 0, 0}, "there is no such database");
  }
  store::Store store = store::Store::open(options.database);
  for (const std::filesystem::path& source : from)
    talk.note(fmt::format("{}: {} rows new or changed", source.string(), with_commas(store.merge(source))));
  return 0;
}

int run_db_dump(const DbOptions& options, Talk&) {
  options.out(store::Store::open_read_only(options.database).dump());
  return 0;
}

int run_db_check(const DbOptions& options, Talk& talk) {
  const std::string damage = store::Store::open_read_only(options.database).damage();
  if (damage.empty()) {
    talk.note(options.database.string() + " is sound");
    return 0;
  }
  options.out(damage);
  return 1;
}

}  // namespace tailor::cli
