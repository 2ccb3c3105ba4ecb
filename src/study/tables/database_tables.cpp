// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows for what the store found or moved. In: the store's own records. Out: tables and a line of words. Called by
// tailor db.
// Nothing is looked up here but the rows of a dump, which are handed on one by one.
#include "study/tables/database_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.h"
#include "base/text.h"
#include "study/tables/column.h"

namespace tailor::study {

using report::Cell;
using report::Hint;

report::Table damage_table(const std::vector<store::Damage>& damages) {
  report::Table table;
  table.columns = {column("state", "state"), sentence("finding", "finding"), column("seen", "times", Hint::count),
                   column("example", "for example", Hint::text, 1)};
  if (damages.empty()) table.rows.push_back({std::string("sound"), Cell(), Cell(), Cell()});
  for (const store::Damage& one : damages)
    table.rows.push_back(
        {std::string("damaged"), one.what, one.times, fmt::format("{}", fmt::join(one.examples, "; "))});
  return table;
}

report::Table merge_table(const std::vector<MergedFrom>& merged) {
  report::Table table;
  table.columns = {column("source", "from"), column("rows", "rows new or changed", Hint::count)};
  for (const MergedFrom& one : merged) table.rows.push_back({one.source.string(), one.rows});
  return table;
}

report::Table migrated_table(const std::filesystem::path& file, const store::Migrated& done) {
  report::Table table;
  table.columns = {column("file", "file"), column("schema_before", "schema before", Hint::integer),
                   column("schema_after", "schema now", Hint::integer), column("before", "size before", Hint::bytes),
                   column("after", "size now", Hint::bytes)};
  table.rows.push_back({file.string(), done.from, done.to, done.bytes_before, done.bytes_after});
  return table;
}

namespace {

template <class Rows>
std::int64_t count(const Rows& rows) {
  return std::ssize(rows);
}

}  // namespace

report::Table moved_table(const std::filesystem::path& file, const store::RecordedRows& rows) {
  report::Table table;
  table.columns = {column("file", "file"),
                   column("recorded_devices", "devices", Hint::count),
                   column("recorded_kernels", "kernels", Hint::count),
                   column("measurements", "measurements", Hint::count),
                   column("module_times", "times of models", Hint::count),
                   column("observations", "observations", Hint::count)};
  table.rows.push_back({file.string(), count(rows.devices), count(rows.kernels), count(rows.measurements),
                        count(rows.module_times), count(rows.observations)});
  return table;
}

std::string text(const store::RecordedRows& rows) {
  const std::string observed = counted(rows.observations.size(), "observation");
  if (rows.devices.empty()) return observed;
  return fmt::format("{} of {} and {} times of models on {}{}", counted(count(rows.measurements), "measurement"),
                     counted(count(rows.kernels), "kernel"), with_commas(count(rows.module_times)),
                     counted(rows.devices.size(), "device"), rows.observations.empty() ? "" : ", " + observed);
}

report::Table dump_table(const store::Store& store) {
  report::Table table;
  table.columns = {column("table", "table"), column("row", "row")};
  store.dump([&](std::string_view name, std::string_view row) {
    table.rows.push_back({std::string(name), std::string(row)});
  });
  return table;
}

}  // namespace tailor::study
