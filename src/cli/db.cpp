// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The db commands: what a database holds, checking, printing, merging, export and import. In: the action and its
// files. Out: a few lines, or files. The work is the store's; here are the words around it. Called by the command
// `db`.
#include "cli/db.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "base/counted.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/commands.h"
#include "report/table.h"
#include "store/exports.h"
#include "store/observations.h"
#include "store/recorded.h"
#include "store/store.h"
#include "study/evidence/evidence.h"
#include "study/tables/column.h"
#include "study/tables/database_tables.h"
#include "study/tables/observation_table.h"

namespace tailor::cli {

namespace {

void show(const DbOptions& options, const report::Table& table) {
  switch (options.format) {
    case Format::table:
      if (table.rows.empty()) return;  // a note has said that there is nothing
      return options.out(report::terminal(table, {options.width, options.colour, 0}));
    case Format::md:
      return options.out(report::markdown(table));
    case Format::csv:
      return options.out(report::csv(table));
    case Format::json:
      return options.out(report::document({"tailor.db/1", std::string(tool_name), options.command, ""}, table));
  }
}

/// Takes the target of a merge away again where it was not there before and nothing was brought into it.
class Made {
 public:
  Made(const std::filesystem::path& target, const std::vector<study::MergedFrom>& merged)
      : target_(target), merged_(merged), is_new_(!std::filesystem::exists(target)) {}
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  ~Made() {
    std::error_code kept;
    if (is_new_ && merged_.empty()) std::filesystem::remove(target_, kept);
  }

 private:
  const std::filesystem::path& target_;
  const std::vector<study::MergedFrom>& merged_;
  bool is_new_;
};

}  // namespace

int run_db_info(const DbOptions& options, Console& console) {
  const store::Store store = store::Store::open_read_only(options.database, {.stop = options.stop});
  report::Table table;
  table.columns = {{"table", "table", report::Hint::text, 0},
                   {"rows", "rows", report::Hint::count, 0},
                   study::sentence("of_these", "of these")};
  // Executions on the simulator are stored beside those of a GPU, and only the latter are measured times.
  std::string by;
  for (const store::TableSize& one : store.executions())
    by += fmt::format("{}{} on {}", by.empty() ? "" : ", ", with_commas(one.rows),
                      one.table == "simulator" ? "the simulator, without times" : "a GPU");
  for (const store::TableSize& size : store.sizes())
    table.rows.push_back(
        {size.table, size.rows, size.table == "measurements" && !by.empty() ? report::Cell(by) : report::Cell()});
  show(options, table);
  constexpr std::size_t shown = 20;  // a grid has a run for each of its points
  const std::vector<store::RunRow> runs = store.runs();
  for (std::size_t i = runs.size() - std::min(shown, runs.size()); i < runs.size(); ++i)
    console.note(fmt::format("{} {}: {} ({}{})", runs[i].started_at, runs[i].outcome, runs[i].command, runs[i].tool,
                             store.device_files(runs[i])));
  if (runs.size() > shown) console.note(fmt::format("{} before these", counted(runs.size() - shown, "run")));
  return 0;
}

int run_db_migrate(const DbOptions& options, Console& console) {
  const store::Migrated done = store::migrate(options.database, {.stop = options.stop});
  if (done.from == done.to)
    console.note(fmt::format("{}: already of schema version {}, left as it is", options.database.string(), done.to));
  else
    console.note(fmt::format("{}: from schema version {} to {}; {} before, {} now", options.database.string(),
                             done.from, done.to, humane_bytes(static_cast<double>(done.bytes_before)),
                             humane_bytes(static_cast<double>(done.bytes_after))));
  if (options.format != Format::table) show(options, study::migrated_table(options.database, done));
  return 0;
}

int run_db_merge(const DbOptions& options, const std::vector<std::filesystem::path>& from, Console& console) {
  for (const std::filesystem::path& source : from) {
    std::error_code unknown;  // a target that is not there yet is the same as nothing
    if (std::filesystem::equivalent(source, options.database, unknown))
      throw Error(Fault::usage, Position{source.string(), 0, 0}, "a database cannot be merged into itself",
                  "name the target first, then the others");
    store::Store::open_read_only(source, {.stop = options.stop});  // one that cannot be read stops all before any
  }
  std::vector<study::MergedFrom> merged;
  const Made made(options.database, merged);
  store::Store store = store::Store::open(options.database, {.stop = options.stop});
  for (const std::filesystem::path& source : from) {
    merged.push_back({source, store.merge(source)});
    console.note(fmt::format("{}: {} new or changed", source.string(), counted(merged.back().rows, "row")));
  }
  if (options.format != Format::table) show(options, study::merge_table(merged));
  return 0;
}

int run_db_dump(const DbOptions& options, Console&) {
  const store::Store store = store::Store::open_read_only(options.database, {.stop = options.stop});
  if (options.format != Format::table)
    show(options, study::dump_table(store));
  else
    store.dump([&](std::string_view table, std::string_view row) { options.out(fmt::format("{}: {}\n", table, row)); });
  return 0;
}

int run_db_export(const DbOptions& options, const DbExport& what, Console& console) {
  const store::ExportFormat& format = store::find_export_format(what.recorded.empty() ? what.format : "csv");
  refuse_own_input(std::array{options.database.string()}, what.recorded);
  const store::Store store = store::Store::open_read_only(options.database, {.stop = options.stop});
  const std::vector<std::string> devices = store.measured_devices();
  if (devices.empty())
    throw Error(Fault::missing, Position{options.database.string(), 0, 0},
                "nothing was measured on a GPU, so there is nothing to export");
  const bool all = what.device.empty() && !what.recorded.empty();
  const std::string device = all ? "" : store::chosen_device(devices, what.device, options.database);
  if (!what.recorded.empty()) {
    const store::RecordedRows rows = store::recorded_rows(store, device);
    store::write_recorded(what.recorded, rows, options.stop);
    console.note(fmt::format("{}: {}", what.recorded.string(), study::text(rows)));
    if (options.format != Format::table) show(options, study::moved_table(what.recorded, rows));
    return 0;
  }
  const std::vector<store::ExportFile> files = store::exported(store, format, device, what.group);
  for (const store::ExportFile& file : files) {
    const std::filesystem::path path = what.folder / file.path;
    std::error_code failed;
    std::filesystem::create_directories(path.parent_path(), failed);
    if (failed)
      throw Error(Fault::failed, Position{path.parent_path().string(), 0, 0},
                  "the folder cannot be made: " + failed.message());
    write_file(path, file.text);
  }
  console.note(fmt::format("{}: {} for {}", what.folder.string(), counted(files.size(), "file"), device));
  return 0;
}

int run_db_import(const DbOptions& options, const std::filesystem::path& recorded, Console& console) {
  // A bad file makes no database.
  std::optional<store::RecordedRows> table = study::read_csv_rows(recorded, options.data, {console, options.stop});
  const store::RecordedRows rows =
      table ? std::move(*table) : store::read_recorded_or_observations(recorded, options.stop);
  store::Store store = store::Store::open(options.database, {.stop = options.stop});
  doing("importing " + recorded.string(), [&] { store::save_recorded(store, rows); });
  console.note(fmt::format("{}: {}", recorded.string(), study::text(rows)));
  if (options.format != Format::table) show(options, study::moved_table(recorded, rows));
  return 0;
}

int run_db_observations(const DbOptions& options, Console& console) {
  store::Store::open_read_only(options.database, {.stop = options.stop});  // makes none
  store::Store store = store::Store::open(options.database, {.stop = options.stop});
  const std::int64_t fresh = store::add_observations(store);
  const report::Table all = study::observation_table(store.observations());
  show(options, all);
  console.note(all.rows.empty()
                   ? fmt::format("{}: nothing was measured, so there is no observation", options.database.string())
                   : fmt::format("{}: {} new", options.database.string(), counted(fresh, "observation", "is", "are")));
  return 0;
}

int run_db_check(const DbOptions& options, Console& console) {
  const std::vector<store::Damage> damages =
      store::Store::open_read_only(options.database, {.stop = options.stop}).damages();
  if (damages.empty()) console.note(options.database.string() + " is sound");
  if (!damages.empty() || options.format != Format::table) show(options, study::damage_table(damages));
  return damages.empty() ? 0 : 1;
}

}  // namespace tailor::cli
