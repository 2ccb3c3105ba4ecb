// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor db: what is in a database, joining several, its whole contents as text, whether it is sound, and measurements
// and observations in and out of it. In: paths and what to do with them. Out: tables, text or files, and the exit code.
// Called by store_commands.cpp and by tests.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/report.h"
#include "cli/terminal.h"

namespace tailor::cli {

struct DbOptions {
  std::filesystem::path database;
  Format format = Format::table;  ///< table: what is no table is lines, or a note
  std::string command;            ///< as it was typed
  int width = 100;
  bool colour = false;
  std::filesystem::path data;  ///< folder with devices/: what names in tables of measurements mean
  Sink out = standard_output();
  std::stop_token stop = {};
};

/// What `db export` is asked to write, and of which measurements.
struct DbExport {
  std::filesystem::path recorded;  ///< a recorded file; empty: none
  std::string format;              ///< store::export_formats(), into `folder`; unused with `recorded`
  std::filesystem::path folder;    ///< made when absent
  std::string device;              ///< empty: the only one
  std::string group;               ///< beginning of an id; empty: all
};

/// Rows of every table, and the runs that wrote them. Returns 0.
int run_db_info(const DbOptions& options, Console& console);
/// Brings the database to today's schema version, and says from which. Returns 0. Throws Error(missing) without one.
int run_db_migrate(const DbOptions& options, Console& console);
/// Copies everything of `from` into the database, which is made when absent; not when nothing could be merged. Returns
/// 0. Throws Error(usage) when a source is the target itself.
int run_db_merge(const DbOptions& options, const std::vector<std::filesystem::path>& from, Console& console);
/// Every row as text, or as a record of one: equal contents, equal text. Returns 0.
int run_db_dump(const DbOptions& options, Console& console);
/// Writes what was measured on GPUs. A recorded file may hold several devices, another tool's files are of one. Returns
/// 0. Throws Error(missing) when nothing was measured, Error(usage) when it is not clear which device or group is
/// meant.
int run_db_export(const DbOptions& options, const DbExport& what, Console& console);
/// Stores what was measured as observations, and shows how many there are. Returns 0. Throws Error(missing) without a
/// database.
int run_db_observations(const DbOptions& options, Console& console);
/// Copies a recorded file, lines of observations or a table of measurements (CSV) into the database, which is made when
/// absent. Returns 0.
int run_db_import(const DbOptions& options, const std::filesystem::path& recorded, Console& console);
/// Returns 0 for a sound file; says what is wrong and returns 1 otherwise.
int run_db_check(const DbOptions& options, Console& console);

}  // namespace tailor::cli
